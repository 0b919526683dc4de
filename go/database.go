package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// How long a request waits for a connection.
	acquireMost = 1500 * time.Millisecond
	// How long it has its connection: PostgreSQL ends a statement after 2 s, PgBouncer one of a database that hangs after 3 s.
	workMost = 4 * time.Second
)

// database is the pool of connections. Whoever waits longest for one has the next.
type database struct {
	pool     *pgxpool.Pool
	settings settings
}

// openDatabase opens the pool, whose connections come in the background: the server starts, and answers, without a database.
func openDatabase(settings settings) (*database, error) {
	config, err := pgxpool.ParseConfig(settings.databaseURL)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a valid address") // the message would show the password
	}
	config.MaxConns = int32(settings.poolMax)
	config.MaxConnIdleTime = time.Hour
	config.ConnConfig.ConnectTimeout = acquireMost
	if settings.persistent {
		config.MinConns = config.MaxConns
	}
	if !settings.prepare {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	// A ping would be a ninth round trip; a socket that was closed is noticed without one.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.PrepareConn = func(_ context.Context, connection *pgx.Conn) (bool, error) {
		return connection.PgConn().CheckConn() == nil, nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &database{pool, settings}, nil
}

func (d *database) close() { d.pool.Close() }

// lend lends a connection to the work of a request.
func (d *database) lend(ctx context.Context, work func(context.Context, *pgx.Conn) error) error {
	waits, cancel := context.WithTimeout(ctx, acquireMost)
	defer cancel()
	connection, err := d.pool.Acquire(waits)
	if err != nil {
		return err
	}
	defer connection.Release()
	works, done := context.WithTimeout(ctx, workMost)
	defer done()
	own := connection.Conn()
	err = work(works, own)
	if err != nil && !errors.As(err, new(refusal)) {
		return err
	}
	if d.settings.reset {
		if err := own.DeallocateAll(works); err != nil {
			return err
		}
	}
	if !d.settings.persistent {
		_ = own.Close(works)
	}
	return err
}

// setTimeZone sets it where it is for each request to set.
func (d *database) setTimeZone(ctx context.Context, connection *pgx.Conn) error {
	if !d.settings.zoneEachRequest {
		return nil
	}
	_, err := connection.Exec(ctx, "SET TIME ZONE 'UTC'", pgx.QueryExecModeSimpleProtocol)
	return err
}

// readQueries reads the statements of the contract: name -> text.
func readQueries(folder string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no statements in %s", folder)
	}
	found := make(map[string]string, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found[strings.TrimSuffix(filepath.Base(file), ".sql")] = string(text)
	}
	return found, nil
}

// all reads every row of a statement into structs whose fields are its columns, in their order.
func all[T any](ctx context.Context, connection *pgx.Conn, sql string, arguments ...any) ([]T, error) {
	rows, err := connection.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}
