package main

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// moment is written in UTC, cut to the whole second: 2024-06-01T12:00:00Z.
type moment time.Time

func (m *moment) ScanTimestamptz(value pgtype.Timestamptz) error {
	*m = moment(value.Time)
	return nil
}

func (m moment) MarshalJSON() ([]byte, error) {
	return time.Time(m).UTC().AppendFormat(nil, `"2006-01-02T15:04:05Z"`), nil
}

// The rows of the statements, with their columns in order, and the bodies of the API, with their keys in order. A field without
// a column is marked `db:"-"`, one without a key `json:"-"`.

type recipeRow struct {
	ID          int32
	Name        string
	Author      *string
	Source      *string
	Time        string
	Servings    string
	Edits       int32
	Created     moment
	Modified    moment
	ArchivedAt  *moment
	Tags        []string
	ObjectID    int32
	ContentType int32
}

type recipe struct {
	ID          int32    `json:"id"`
	Name        string   `json:"name"`
	Author      *string  `json:"author"`
	Source      *string  `json:"source"`
	Time        string   `json:"time"`
	Servings    string   `json:"servings"`
	Edits       int32    `json:"edits"`
	Created     moment   `json:"created"`
	Modified    moment   `json:"modified"`
	ArchivedAt  *moment  `json:"archived_at"`
	Tags        []string `json:"tags"`
	Owner       owner    `json:"owner"`
	Ingredients []any    `json:"ingredients"` // the ingredients, then the sections
	Steps       []step   `json:"steps"`
	Timeline    []any    `json:"timeline"` // the notes, oldest first, then the events, newest first
}

type owner struct {
	Kind string `json:"kind"`
	ID   int32  `json:"id"`
}

type ingredient struct {
	Kind        string `db:"-" json:"kind"`
	ID          int32  `json:"id"`
	Position    string `json:"position"`
	Quantity    string `json:"quantity"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type section struct {
	Kind     string `db:"-" json:"kind"`
	ID       int32  `json:"id"`
	Position string `json:"position"`
	Title    string `json:"title"`
}

type step struct {
	ID       int32  `json:"id"`
	Position string `json:"position"`
	Text     string `json:"text"`
}

type reaction struct {
	ID          int32  `json:"id"`
	NoteID      int32  `json:"-"`
	Emoji       string `json:"emoji"`
	CreatedByID int32  `json:"created_by_id"`
	Created     moment `json:"created"`
}

type event struct {
	Kind        string `db:"-" json:"kind"`
	ID          int32  `json:"id"`
	Action      string `json:"action"`
	CreatedByID *int32 `json:"created_by_id"`
	Created     moment `json:"created"`
}

type person struct {
	ID    int32   `json:"id"`
	Email string  `json:"email"`
	Name  *string `json:"name"`
}

type noteRow struct {
	ID          int32
	Text        string
	Created     moment
	Modified    moment
	Author      int32
	AuthorEmail string
	AuthorName  *string
	Editor      *int32
	EditorEmail *string
	EditorName  *string
}

type note struct {
	Kind           string     `json:"kind"`
	ID             int32      `json:"id"`
	Text           string     `json:"text"`
	Created        moment     `json:"created"`
	Modified       moment     `json:"modified"`
	CreatedBy      person     `json:"created_by"`
	LastModifiedBy *person    `json:"last_modified_by"`
	Reactions      []reaction `json:"reactions"`
}

type dashboard struct {
	UserID  int32           `json:"user_id"`
	Recipes []recipeSummary `json:"recipes"`
	Teams   []teamSummary   `json:"teams"`
	Notes   []noteSummary   `json:"notes"`
	Events  []eventSummary  `json:"events"`
}

type recipeSummary struct {
	ID       int32  `json:"id"`
	Name     string `json:"name"`
	Modified moment `json:"modified"`
}

type teamSummary struct {
	ID      int32  `json:"id"`
	Name    string `json:"name"`
	Members int32  `json:"members"`
}

type noteSummary struct {
	ID       int32  `json:"id"`
	RecipeID int32  `json:"recipe_id"`
	Text     string `json:"text"`
	Created  moment `json:"created"`
}

type eventSummary struct {
	ID       int32  `json:"id"`
	RecipeID int32  `json:"recipe_id"`
	Action   string `json:"action"`
	Created  moment `json:"created"`
}

// newNote is the body of a note that a client writes: 1 to 10,000 characters, none of them U+0000, which PostgreSQL cannot store.
type newNote struct{ text string }

func (n *newNote) UnmarshalJSON(body []byte) error {
	var found map[string]*string
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	text := found["text"]
	if text == nil || len(found) > 1 || !isNote(*text) {
		return unprocessable
	}
	n.text = *text
	return nil
}
