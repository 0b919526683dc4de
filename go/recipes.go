package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const noteMost = 10_000

// recipes are the handlers of the API. The statements of a request are sent one after the other, save the reads of a dashboard.
type recipes struct {
	database *database
	sql      map[string]string
}

func (a *recipes) route(routes *http.ServeMux) {
	routes.HandleFunc("GET /api/v1/recipes", a.random)
	routes.HandleFunc("GET /api/v1/recipes/{id}", a.byID)
	routes.HandleFunc("POST /api/v1/recipes/{id}/notes", a.writeNote)
	routes.HandleFunc("GET /api/v1/dashboard", a.dashboard)
}

func (a *recipes) random(w http.ResponseWriter, r *http.Request) {
	a.answer(w, r, http.StatusOK, func(ctx context.Context, connection *pgx.Conn, user int32) (any, error) {
		return a.load(ctx, connection, a.sql["recipe_random"], user)
	})
}

func (a *recipes) byID(w http.ResponseWriter, r *http.Request) {
	id, err := idOf(r)
	if err != nil {
		refuse(w, err)
		return
	}
	a.answer(w, r, http.StatusOK, func(ctx context.Context, connection *pgx.Conn, user int32) (any, error) {
		return a.load(ctx, connection, a.sql["recipe_by_id"], user, id)
	})
}

func (a *recipes) writeNote(w http.ResponseWriter, r *http.Request) {
	id, err := idOf(r)
	var written newNote
	if err == nil {
		err = readJSON(r, &written)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	a.answer(w, r, http.StatusCreated, func(ctx context.Context, connection *pgx.Conn, user int32) (any, error) {
		var stored int32
		err := pgx.BeginFunc(ctx, connection, func(transaction pgx.Tx) error {
			row := transaction.QueryRow(ctx, a.sql["note_insert"], user, id, written.text)
			if err := row.Scan(&stored); err != nil {
				return orNotFound(err)
			}
			_, err := transaction.Exec(ctx, a.sql["event_insert"], user, id)
			return err
		})
		return map[string]int32{"id": stored}, err
	})
}

// answer runs the work of a request on one connection, behind the look at its session, and writes what comes of it.
func (a *recipes) answer(
	w http.ResponseWriter, r *http.Request, status int,
	work func(ctx context.Context, connection *pgx.Conn, user int32) (any, error),
) {
	var body any
	err := a.withUser(r, func(ctx context.Context, connection *pgx.Conn, user int32) (err error) {
		body, err = work(ctx, connection, user)
		return err
	})
	if err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, status, body)
}

func (a *recipes) withUser(r *http.Request, work func(context.Context, *pgx.Conn, int32) error) error {
	cookie, err := r.Cookie("sessionid")
	if err != nil || !utf8.ValidString(cookie.Value) || strings.ContainsRune(cookie.Value, 0) {
		return unauthorized
	}
	return a.database.lend(r.Context(), func(ctx context.Context, connection *pgx.Conn) error {
		if err := a.database.setTimeZone(ctx, connection); err != nil {
			return err
		}
		var user int32
		err := connection.QueryRow(ctx, a.sql["session"], cookie.Value).Scan(&user)
		if errors.Is(err, pgx.ErrNoRows) {
			return unauthorized
		}
		if err != nil {
			return err
		}
		return work(ctx, connection, user)
	})
}

func orNotFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound
	}
	return err
}

// load reads the recipe that a statement finds, and its parts.
func (a *recipes) load(ctx context.Context, connection *pgx.Conn, find string, arguments ...any) (*recipe, error) {
	rows, err := connection.Query(ctx, find, arguments...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[recipeRow])
	if err != nil {
		return nil, orNotFound(err)
	}
	ingredients, err := all[ingredient](ctx, connection, a.sql["ingredients"], found.ID)
	if err != nil {
		return nil, err
	}
	steps, err := all[step](ctx, connection, a.sql["steps"], found.ID)
	if err != nil {
		return nil, err
	}
	sections, err := all[section](ctx, connection, a.sql["sections"], found.ID)
	if err != nil {
		return nil, err
	}
	notes, err := all[noteRow](ctx, connection, a.sql["notes"], found.ID)
	if err != nil {
		return nil, err
	}
	reactions, err := all[reaction](ctx, connection, a.sql["reactions"], found.ID)
	if err != nil {
		return nil, err
	}
	events, err := all[event](ctx, connection, a.sql["timeline_events"], found.ID)
	if err != nil {
		return nil, err
	}
	return &recipe{
		ID:          found.ID,
		Name:        found.Name,
		Author:      found.Author,
		Source:      found.Source,
		Time:        found.Time,
		Servings:    found.Servings,
		Edits:       found.Edits,
		Created:     found.Created,
		Modified:    found.Modified,
		ArchivedAt:  found.ArchivedAt,
		Tags:        found.Tags,
		Owner:       ownerOf(found),
		Ingredients: parts(ingredients, sections),
		Steps:       steps,
		Timeline:    timeline(notes, reactions, events),
	}, nil
}

func ownerOf(row recipeRow) owner {
	if row.ContentType == 20 {
		return owner{"team", row.ObjectID}
	}
	return owner{"user", row.ObjectID}
}

func parts(ingredients []ingredient, sections []section) []any {
	out := make([]any, 0, len(ingredients)+len(sections))
	for _, one := range ingredients {
		one.Kind = "ingredient"
		out = append(out, one)
	}
	for _, one := range sections {
		one.Kind = "section"
		out = append(out, one)
	}
	return out
}

func timeline(notes []noteRow, reactions []reaction, events []event) []any {
	of := make(map[int32][]reaction, len(notes))
	for _, one := range reactions {
		of[one.NoteID] = append(of[one.NoteID], one)
	}
	out := make([]any, 0, len(notes)+len(events))
	for _, row := range notes {
		made := note{
			Kind:      "note",
			ID:        row.ID,
			Text:      row.Text,
			Created:   row.Created,
			Modified:  row.Modified,
			CreatedBy: person{row.Author, row.AuthorEmail, row.AuthorName},
			Reactions: of[row.ID],
		}
		if row.Editor != nil {
			made.LastModifiedBy = &person{*row.Editor, *row.EditorEmail, row.EditorName}
		}
		if made.Reactions == nil {
			made.Reactions = []reaction{}
		}
		out = append(out, made)
	}
	for _, one := range events {
		one.Kind = "event"
		out = append(out, one)
	}
	return out
}

// dashboard asks for the session first; its connection is free again when the four reads begin, each on its own.
func (a *recipes) dashboard(w http.ResponseWriter, r *http.Request) {
	var found dashboard
	err := a.withUser(r, func(_ context.Context, _ *pgx.Conn, user int32) error {
		found.UserID = user
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	reads, ctx := errgroup.WithContext(r.Context())
	read(reads, ctx, a, "dashboard_recipes", found.UserID, &found.Recipes)
	read(reads, ctx, a, "dashboard_teams", found.UserID, &found.Teams)
	read(reads, ctx, a, "dashboard_notes", found.UserID, &found.Notes)
	read(reads, ctx, a, "dashboard_events", found.UserID, &found.Events)
	if err := reads.Wait(); err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, found)
}

func read[T any](reads *errgroup.Group, ctx context.Context, a *recipes, query string, user int32, into *[]T) {
	reads.Go(func() error {
		return a.database.lend(ctx, func(ctx context.Context, connection *pgx.Conn) (err error) {
			*into, err = all[T](ctx, connection, a.sql[query], user)
			return err
		})
	})
}

// idOf is a number from 1: others are refused before the database is asked.
func idOf(r *http.Request) (int32, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 32)
	if err != nil || id < 1 {
		return 0, badRequest
	}
	return int32(id), nil
}

func isNote(text string) bool {
	length := utf8.RuneCountInString(text)
	return length >= 1 && length <= noteMost && !strings.ContainsRune(text, 0)
}

// readJSON reads a body. What is no JSON is a bad request; JSON of another shape cannot be processed.
func readJSON(r *http.Request, into any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if !json.Valid(body) {
		return badRequest
	}
	if json.Unmarshal(body, into) != nil {
		return unprocessable
	}
	return nil
}
