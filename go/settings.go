package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
)

const defaultDatabaseURL = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"

// settings of the contract. A variable that is empty counts as not set.
type settings struct {
	port            int
	databaseURL     string
	logLevel        slog.Level
	workers         int // 0: as many as there are CPUs
	poolMax         int
	persistent      bool
	prepare         bool
	reset           bool
	zoneEachRequest bool
	accessLog       bool
}

func readSettings(lookup func(string) string) (settings, error) {
	var mistakes []error
	choice := func(name, otherwise string, values ...string) string {
		value := lookup(name)
		if value == "" {
			return otherwise
		}
		if !slices.Contains(values, value) {
			mistakes = append(mistakes, fmt.Errorf("%s must be one of %v", name, values))
		}
		return value
	}
	number := func(name string, otherwise, most int) int {
		value := lookup(name)
		if value == "" {
			return otherwise
		}
		found, err := strconv.Atoi(value)
		if err != nil || found < 1 || found > most {
			mistakes = append(mistakes, fmt.Errorf("%s must be a whole number from 1 to %d", name, most))
		}
		return found
	}
	flag := func(name, otherwise string) bool { return choice(name, otherwise, "0", "1") == "1" }
	found := settings{
		port:            number("PORT", 8080, 65535),
		databaseURL:     defaultDatabaseURL,
		workers:         number("WORKERS", 0, 1<<16),
		poolMax:         number("DB_POOL_MAX", 20, 1<<16),
		persistent:      flag("DB_PERSISTENT", "1"),
		prepare:         flag("DB_PREPARE", "1"),
		reset:           flag("DB_RESET", "0"),
		zoneEachRequest: choice("DB_TIME_ZONE", "connection", "connection", "request") == "request",
		accessLog:       flag("ACCESS_LOG", "0"),
	}
	if url := lookup("DATABASE_URL"); url != "" {
		found.databaseURL = url
	}
	level := choice("LOG_LEVEL", "warn", "debug", "info", "warn", "error")
	if err := found.logLevel.UnmarshalText([]byte(level)); err != nil {
		mistakes = append(mistakes, fmt.Errorf("LOG_LEVEL: %w", err))
	}
	return found, errors.Join(mistakes...)
}
