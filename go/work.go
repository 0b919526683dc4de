package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const delayMostMS = 10_000

// work adds the numbers of the body, then waits.
func work(w http.ResponseWriter, r *http.Request) {
	delay, err := delayOf(r)
	var sum int64
	if err == nil {
		sum, err = sumOf(r)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	select {
	case <-time.After(delay):
		writeText(w, fmt.Sprintf("Sum: %d", sum))
	case <-r.Context().Done(): // the client has gone
	}
}

func sumOf(r *http.Request) (int64, error) {
	body, err := readBody(r)
	if err != nil {
		return 0, err
	}
	if bytes.Contains(body, []byte("null")) { // encoding/json reads it as nothing, even where a number has to be
		return 0, unprocessable
	}
	var numbers []int32
	if err := json.Unmarshal(body, &numbers); err != nil {
		if errors.As(err, new(*json.SyntaxError)) {
			return 0, badRequest
		}
		return 0, unprocessable
	}
	var sum int64
	for _, one := range numbers {
		sum += int64(one)
	}
	return sum, nil
}

func delayOf(r *http.Request) (time.Duration, error) {
	query := r.URL.Query()
	if !query.Has("delay_ms") {
		return 0, nil
	}
	delay, err := strconv.ParseUint(query.Get("delay_ms"), 10, 32)
	if err != nil || delay > delayMostMS {
		return 0, badRequest
	}
	return time.Duration(delay) * time.Millisecond, nil
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if errors.As(err, new(*http.MaxBytesError)) {
		return nil, tooLarge
	}
	if err != nil {
		return nil, badRequest
	}
	return body, nil
}
