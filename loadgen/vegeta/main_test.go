package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ask sends a body and returns what is answered.
func ask(t *testing.T, through *users, url string) (string, error) {
	t.Helper()
	answer, err := (&http.Client{Transport: through}).Post(url, "text/plain", strings.NewReader("a body"))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func TestWhatHasNoAnswerIsSentAgainWithItsBody(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, of *http.Request) {
		body, _ := io.ReadAll(of.Body)
		if asked.Add(1) < 3 {
			<-of.Context().Done()
			return
		}
		to.Write(body)
	}))
	defer server.Close()
	patient := &users{patience: 50 * time.Millisecond, retries: 2}
	if body, err := ask(t, patient, server.URL); err != nil || body != "a body" {
		t.Errorf("%q, %v", body, err)
	}
	asked.Store(0)
	hasty := &users{patience: 50 * time.Millisecond, retries: 1}
	if body, err := ask(t, hasty, server.URL); err == nil {
		t.Errorf("the third try would be answered: %q", body)
	} else if text := told(err.Error(), "#1"); text != "given up: no whole answer in time" {
		t.Error(text)
	}
	if text := told("http://a#12 refused", "#12"); text != "http://a refused" {
		t.Error(text)
	}
	if patient.retried.Load() != 2 || hasty.retried.Load() != 1 {
		t.Error(patient.retried.Load(), hasty.retried.Load())
	}
}

func TestOneInSoManyRequestsClosesItsConnection(t *testing.T) {
	for perConnection, wanted := range map[uint64]int32{0: 1, 1: 20, 5: 4} {
		var opened atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			io.WriteString(to, "ok")
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		server.Start()
		through := &users{perConnection: perConnection}
		for range 20 {
			if _, err := ask(t, through, server.URL); err != nil {
				t.Error(err)
			}
		}
		server.Close()
		if opened.Load() != wanted {
			t.Errorf("one in %d: %d connections, not %d", perConnection, opened.Load(), wanted)
		}
	}
}
