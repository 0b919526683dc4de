// The application: net/http with a goroutine for each request. Configured by the environment alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	contractFolder = "/app/contract"
	bodyMost       = 1 << 20
	headMost       = 5 * time.Second
	// Longer than HAProxy keeps a connection that is not in use.
	idleMost = 75 * time.Second
	stopMost = 11 * time.Second
)

func main() {
	settings, err := readSettings(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: settings.logLevel})))
	if err := serve(settings); err != nil {
		slog.Error("the server ended", "error", err)
		os.Exit(1)
	}
}

func serve(settings settings) error {
	if settings.workers > 0 {
		runtime.GOMAXPROCS(settings.workers)
	}
	terminated, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	page, err := os.ReadFile(contractFolder + "/golden/index.html")
	if err != nil {
		return err
	}
	queries, err := readQueries(contractFolder + "/sql/queries")
	if err != nil {
		return err
	}
	database, err := openDatabase(settings)
	if err != nil {
		return err
	}
	defer database.close()
	server := &http.Server{
		Addr:              fmt.Sprintf(":%d", settings.port),
		Handler:           handler(settings, page, &recipes{database: database, sql: queries}),
		ReadHeaderTimeout: headMost,
		IdleTimeout:       idleMost,
	}
	stopped := make(chan error, 1)
	go func() {
		<-terminated.Done()
		// Requests that are under way are answered.
		limit, cancel := context.WithTimeout(context.Background(), stopMost)
		defer cancel()
		stopped <- server.Shutdown(limit)
	}()
	slog.Info("listening", "port", settings.port)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

func handler(settings settings, page []byte, recipes *recipes) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	for _, path := range []string{"/{$}", "/index.html", "/index.htm"} {
		routes.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page)
		})
	}
	routes.HandleFunc("POST /work", work)
	routeUsers(routes)
	recipes.route(routes)
	bounded := http.MaxBytesHandler(routes, bodyMost)
	if !settings.accessLog {
		return bounded
	}
	return accessLog(slog.New(slog.NewTextHandler(os.Stdout, nil)), bounded)
}

// accessLog writes a line for each request once it is answered.
func accessLog(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, seen := time.Now(), &statusSeen{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		log.Info("answered", "method", r.Method, "path", r.URL.Path, "status", seen.status, "took", time.Since(began))
	})
}

type statusSeen struct {
	http.ResponseWriter
	status int
}

func (w *statusSeen) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
