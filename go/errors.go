package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is an answer that ends a request early: its status and what the client is told.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

var (
	badRequest    = refusal{http.StatusBadRequest, "bad request"}
	unauthorized  = refusal{http.StatusUnauthorized, "unauthorized"}
	notFound      = refusal{http.StatusNotFound, "not found"}
	unprocessable = refusal{http.StatusUnprocessableEntity, "unprocessable content"}
	tooLarge      = refusal{http.StatusRequestEntityTooLarge, "content too large"}
	unavailable   = refusal{http.StatusServiceUnavailable, "database unavailable"}
	internal      = refusal{http.StatusInternalServerError, "internal server error"}
)

// refuse answers an error. Of an outage and of a bug the cause goes to the log.
func refuse(w http.ResponseWriter, err error) {
	var told refusal
	if !errors.As(err, &told) {
		told = unavailable
		if isBug(err) {
			told = internal
		}
		slog.Error(told.text, "error", err)
	}
	writeJSON(w, told.status, map[string]string{"error": told.text})
}

// isBug tells a bug, such as a mistake in a statement or in how its rows are read, from an outage.
func isBug(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		// Classes of https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and PgBouncer's own errors),
		// no such database, resources, operator; 0A and 26 are statements that were prepared before the tables changed.
		switch refused.Code[:2] {
		case "08", "0A", "26", "3D", "53", "57":
			return false
		}
		return true
	}
	return errors.As(err, new(pgx.ScanArgError))
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		slog.Error("a body cannot be written", "error", err)
		status = http.StatusInternalServerError
	}
	written := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(written)))
	w.WriteHeader(status)
	_, _ = w.Write(written)
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text))
}
