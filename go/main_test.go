package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// nowhere is an address at which no database is.
const nowhere = "postgresql://app:secret@127.0.0.1:1/tandem?sslmode=disable"

func server(t *testing.T, variables map[string]string) http.Handler {
	t.Helper()
	settings, err := readSettings(func(name string) string { return variables[name] })
	if err != nil {
		t.Fatal(err)
	}
	settings.databaseURL = nowhere
	database, err := openDatabase(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.close)
	queries, err := readQueries(contractFolder + "/sql/queries")
	if err != nil {
		t.Fatal(err)
	}
	return handler(settings, []byte("page"), &recipes{database: database, sql: queries})
}

// ask sends a request such as `GET /users/ as key`.
func ask(t *testing.T, to http.Handler, request, body string) *httptest.ResponseRecorder {
	t.Helper()
	request, session, _ := strings.Cut(request, " as ")
	method, path, _ := strings.Cut(request, " ")
	asked := httptest.NewRequest(method, path, strings.NewReader(body))
	if session != "" {
		asked.AddCookie(&http.Cookie{Name: "sessionid", Value: session})
	}
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, asked)
	return answer
}

func TestRefusals(t *testing.T) {
	to := server(t, nil)
	for _, one := range []struct {
		request, body string
		status        int
	}{
		{"GET /other", "", 404},
		{"GET /user/7", "", 404},
		{"DELETE /healthz", "", 405},
		{"GET /api/v1/recipes", "", 401},
		{"GET /api/v1/recipes/1", "", 401},
		{"GET /api/v1/dashboard", "", 401},
		{"GET /api/v1/recipes/x", "", 400},
		{"GET /api/v1/recipes/0 as k", "", 400},
		{"GET /api/v1/recipes/2147483648 as k", "", 400},
		{"POST /api/v1/recipes/1/notes as k", "{", 400},
		{"POST /api/v1/recipes/1/notes as k", "{}", 422},
		{"POST /api/v1/recipes/1/notes as k", `["a"]`, 422},
		{"POST /work", "[1,", 400},
		{"POST /work", "[1.5]", 422},
		{"POST /work", "[2147483648]", 422},
		{"POST /work", "null", 422},
		{"POST /work", "[null]", 422},
		{"POST /work?delay_ms=10001", "[1]", 400},
		{"POST /work?delay_ms=-1", "[1]", 400},
		{"POST /work?delay_ms=", "[1]", 400},
		{"POST /work", "[" + strings.Repeat("1,", 1<<20) + "1]", 413},
	} {
		if answer := ask(t, to, one.request, one.body); answer.Code != one.status {
			t.Errorf("%s %.20s: %d, not %d", one.request, one.body, answer.Code, one.status)
		}
	}
	if body := ask(t, to, "GET /api/v1/recipes", "").Body.String(); body != `{"error":"unauthorized"}` {
		t.Error(body)
	}
}

func TestADatabaseThatIsAwayIs503(t *testing.T) {
	to := server(t, map[string]string{"DB_POOL_MAX": "2"})
	for _, request := range []string{
		"GET /api/v1/recipes as k",
		"GET /api/v1/recipes/1 as k",
		"GET /api/v1/dashboard as k",
		"POST /api/v1/recipes/1/notes as k",
	} {
		answer := ask(t, to, request, `{"text":"a"}`)
		if answer.Code != 503 || answer.Body.String() != `{"error":"database unavailable"}` {
			t.Errorf("%s: %d %s", request, answer.Code, answer.Body)
		}
	}
}

func TestUsersLiveUntilTheyAreDeleted(t *testing.T) {
	to := server(t, nil)
	for _, one := range [][2]string{
		{"GET /users/", ""},
		{"POST /user/", "0"},
		{"POST /user", "1"},
		{"GET /user/1", "{}"},
		{"PUT /user/1/", ""},
		{"GET /users", "0,1"},
		{"DELETE /user/0", ""},
		{"GET /users/", "1"},
	} {
		if answer := ask(t, to, one[0], "ignored"); answer.Code != 200 || answer.Body.String() != one[1] {
			t.Errorf("%s: %d %s", one[0], answer.Code, answer.Body)
		}
	}
}

func TestWorkAddsAndWaits(t *testing.T) {
	began := time.Now()
	answer := ask(t, server(t, nil), "POST /work?a=b&delay_ms=50", "[2147483647, 1]")
	if answer.Body.String() != "Sum: 2147483648" || time.Since(began) < 50*time.Millisecond {
		t.Error(answer.Body, time.Since(began))
	}
}

func TestTimesAreCutToWholeSeconds(t *testing.T) {
	for given, written := range map[string]string{
		"2024-06-01T12:00:00Z":             `"2024-06-01T12:00:00Z"`,
		"2024-06-01T14:00:00.999999+02:00": `"2024-06-01T12:00:00Z"`,
	} {
		at, err := time.Parse(time.RFC3339Nano, given)
		if err != nil {
			t.Fatal(err)
		}
		if told, err := json.Marshal(moment(at)); err != nil || string(told) != written {
			t.Error(string(told), err)
		}
	}
}

func TestANoteHas1To10000Characters(t *testing.T) {
	for text, wanted := range map[string]bool{
		"a":                                 true,
		"\u0001":                            true,
		strings.Repeat("汤", noteMost):       true,
		strings.Repeat("汤", noteMost) + "a": false,
		"":                                  false,
		"a\u0000":                           false,
	} {
		if isNote(text) != wanted {
			t.Errorf("%.20q", text)
		}
	}
}

func TestABodyEscapesNoMoreThanNeeded(t *testing.T) {
	answer := httptest.NewRecorder()
	writeJSON(answer, 200, section{Kind: "section", ID: 7, Position: "d5", Title: "crème \"½\" <A&B> 汤 a\\b/c\n"})
	if told := answer.Body.String(); told != `{"kind":"section","id":7,"position":"d5","title":"crème \"½\" <A&B> 汤 a\\b/c\n"}` {
		t.Error(told)
	}
}

func TestABugIsNoOutage(t *testing.T) {
	for _, code := range []string{"42703", "42P01", "23505"} {
		if !isBug(&pgconn.PgError{Code: code}) {
			t.Error(code)
		}
	}
	for _, code := range []string{"57014", "57P01", "08P01", "53300", "26000"} {
		if isBug(&pgconn.PgError{Code: code}) {
			t.Error(code)
		}
	}
	if !isBug(pgx.ScanArgError{}) {
		t.Error("a row that cannot be read")
	}
}

func TestASettingThatMakesNoSenseIsNamed(t *testing.T) {
	for name, value := range map[string]string{
		"PORT": "0", "WORKERS": "many", "DB_POOL_MAX": "-1", "DB_PREPARE": "maybe", "DB_TIME_ZONE": "UTC", "LOG_LEVEL": "loud",
	} {
		_, err := readSettings(func(asked string) string { return map[string]string{name: value}[asked] })
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Error(name, err)
		}
	}
	settings, err := readSettings(func(string) string { return "" })
	if err != nil || settings.port != 8080 || settings.poolMax != 20 || !settings.prepare {
		t.Error(settings, err)
	}
	settings.databaseURL = "postgresql://app:secret@db:x/tandem"
	if _, err := openDatabase(settings); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
