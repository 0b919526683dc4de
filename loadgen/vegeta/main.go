// Command vegeta is vegeta's attacker (https://pkg.go.dev/github.com/tsenart/vegeta/v12/lib) with a schedule in place of a
// rate: it sends each request at the instant that the schedule says, whatever became of the requests before.
//
// Files: -requests has a JSON object on each line (request), -schedule two numbers (nanoseconds since the beginning, and
// which request), -rows gets a row for each request that was sent. With -closed, each of -connections clients sends the next
// request of the schedule as soon as its last one is answered, for -duration. A JSON object at the end says when it began,
// the errors, and how often a request was sent once more.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// A request. Body: a line of a file, the first is 0.
type request struct {
	Method, URL string
	Headers     map[string]string
	Body        *struct {
		File string
		Line int
	}
}

// An arrival is when a request is due, since the beginning, and which one it is.
type arrival struct {
	due     time.Duration
	request uint32
}

// A row is what became of a request. Times: nanoseconds since the beginning; status 0: no answer.
type row struct {
	Request, Status        int32
	Due, Sent, End, Length int64
}

// A schedule is a vegeta.Pacer.
type schedule []arrival

// Pace waits by itself: Go's timers wake on whole milliseconds while nothing else happens (https://go.dev/issue/44343).
func (s schedule) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= uint64(len(s)) {
		return 0, true
	}
	if left := s[hits].due - elapsed; left > 0 {
		rest := syscall.NsecToTimespec(left.Nanoseconds())
		for syscall.Nanosleep(&rest, &rest) == syscall.EINTR {
		}
	}
	return 0, false
}

func (s schedule) Rate(time.Duration) float64 { return 0 }

// The users of an application: each waits for an answer as long as they are patient, and then may try again. Of so many requests
// one is the last of its connection (0: none is).
type users struct {
	http.Transport
	patience      time.Duration
	retries       int
	perConnection uint64
	sent, retried atomic.Uint64
}

func (u *users) RoundTrip(sent *http.Request) (*http.Response, error) {
	// The number that vegeta gives each request: an application must not know the load by it.
	delete(sent.Header, "X-Vegeta-Seq")
	sent.Close = u.perConnection > 0 && u.sent.Add(1)%u.perConnection == 0
	if u.retries == 0 {
		return u.Transport.RoundTrip(sent)
	}
	for tried := 0; ; tried++ {
		answer, err := u.try(sent)
		if err == nil || tried == u.retries {
			return answer, err
		}
		u.retried.Add(1)
	}
}

// try returns once the whole body is there, for which they wait as well.
func (u *users) try(sent *http.Request) (*http.Response, error) {
	limited, cancel := context.WithTimeout(sent.Context(), u.patience)
	defer cancel()
	again := sent.Clone(limited)
	if sent.GetBody != nil {
		again.Body, _ = sent.GetBody()
	}
	answer, err := u.Transport.RoundTrip(again)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

func main() {
	log.SetFlags(0)
	requestsFile := flag.String("requests", "", "file of the requests")
	scheduleFile := flag.String("schedule", "", "file of the schedule")
	rowsFile := flag.String("rows", "", "file that gets the rows")
	timeout := flag.Duration("timeout", 10*time.Second, "time that a request may take, each time that it is sent")
	retries := flag.Int("retries", 0, "how often a request that has no answer is sent again")
	perConnection := flag.Uint64("requests-per-connection", 0, "of so many requests one closes its connection; 0: none does")
	connections := flag.Int("connections", 1, "most connections")
	http2 := flag.Bool("http2", false, "speak HTTP/2 with a server that has TLS")
	closed := flag.Bool("closed", false, "send as soon as the last one is answered")
	duration := flag.Duration("duration", 0, "length of a closed loop")
	version := flag.Bool("version", false, "print the version of vegeta's library")
	flag.Parse()
	if *version {
		fmt.Println("Version:", libraryVersion())
		return
	}
	targets, err := readRequests(*requestsFile)
	check(err)
	arrivals, err := readSchedule(*scheduleFile, len(targets))
	check(err)
	// One thread sleeps until the next instant, and the others go on.
	runtime.GOMAXPROCS(runtime.NumCPU() + 1)
	debug.SetGCPercent(400)

	transport := &users{
		Transport: http.Transport{
			DisableCompression:  true,
			MaxIdleConnsPerHost: *connections,
			MaxConnsPerHost:     *connections,
			ForceAttemptHTTP2:   *http2,
			// The certificate is made for one study.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
		patience:      *timeout,
		retries:       *retries,
		perConnection: *perConnection,
	}
	client := &http.Client{
		Timeout:       *timeout * time.Duration(1+*retries),
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	options := []func(*vegeta.Attacker){vegeta.Client(client), vegeta.Workers(uint64(*connections))}
	var pacer vegeta.Pacer = arrivals
	if *closed {
		pacer = vegeta.ConstantPacer{} // no pause at all
		options = append(options, vegeta.MaxWorkers(uint64(*connections)))
	}
	began := time.Now()
	results := vegeta.NewAttacker(options...).Attack(inTurn(targets, arrivals), pacer, *duration, "")
	rows, errors := rowsOf(results, arrivals, began, *closed)

	out, err := os.Create(*rowsFile)
	check(err)
	check(binary.Write(out, binary.LittleEndian, rows))
	check(out.Close())
	end := map[string]any{"began_ns": began.UnixNano(), "errors": errors}
	if *retries > 0 {
		end["retried"] = transport.retried.Load()
	}
	check(json.NewEncoder(os.Stdout).Encode(end))
}

// inTurn yields the targets in the order of the schedule. The fragment of an address is not sent, and says which arrival it is.
func inTurn(targets []vegeta.Target, arrivals []arrival) vegeta.Targeter {
	var next atomic.Uint64
	return func(target *vegeta.Target) error {
		number := next.Add(1) - 1
		*target = targets[arrivals[number%uint64(len(arrivals))].request]
		target.URL += "#" + strconv.FormatUint(number, 10)
		return nil
	}
}

func rowsOf(results <-chan *vegeta.Result, arrivals []arrival, began time.Time, closed bool) ([]row, map[string]int) {
	rows, errors := make([]row, 0, len(arrivals)), map[string]int{}
	for result := range results {
		_, fragment, _ := strings.Cut(result.URL, "#")
		number, err := strconv.ParseUint(fragment, 10, 64)
		check(err)
		own := arrivals[number%uint64(len(arrivals))]
		sent := result.Timestamp.Sub(began)
		if closed {
			own.due = sent
		}
		if result.Code == 0 {
			errors[told(result.Error, "#"+fragment)]++
		}
		rows = append(rows, row{
			int32(own.request), int32(result.Code), int64(own.due), int64(sent), int64(sent + result.Latency),
			int64(result.BytesIn),
		})
	}
	return rows, errors
}

// told is an error without the fragment. A request that was given up has several texts.
func told(text, fragment string) string {
	for _, one := range []string{"context deadline exceeded", "Client.Timeout exceeded"} {
		if strings.Contains(text, one) {
			return "given up: no whole answer in time"
		}
	}
	return strings.ReplaceAll(text, fragment, "")
}

func readRequests(file string) ([]vegeta.Target, error) {
	bodies := map[string][][]byte{}
	var targets []vegeta.Target
	err := eachLine(file, func(line []byte) error {
		var one request
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		target := vegeta.Target{Method: one.Method, URL: one.URL, Header: http.Header{}}
		for name, value := range one.Headers {
			target.Header.Set(name, value)
		}
		if one.Body != nil {
			if bodies[one.Body.File] == nil {
				text, err := os.ReadFile(one.Body.File)
				if err != nil {
					return err
				}
				bodies[one.Body.File] = bytes.Split(text, []byte("\n"))
			}
			target.Body = bodies[one.Body.File][one.Body.Line]
		}
		targets = append(targets, target)
		return nil
	})
	return targets, err
}

func readSchedule(file string, requests int) (schedule, error) {
	var arrivals schedule
	err := eachLine(file, func(line []byte) error {
		due, which, _ := strings.Cut(string(line), " ")
		at, err := strconv.ParseInt(due, 10, 64)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(which)
		if err != nil || number >= requests {
			return fmt.Errorf("there is no request %q", which)
		}
		arrivals = append(arrivals, arrival{time.Duration(at), uint32(number)})
		return nil
	})
	if err == nil && len(arrivals) == 0 {
		err = fmt.Errorf("%s: no arrivals", file)
	}
	return arrivals, err
}

func eachLine(file string, do func([]byte) error) error {
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	lines := bufio.NewScanner(opened)
	for number := 1; lines.Scan(); number++ {
		if err := do(lines.Bytes()); err != nil {
			return fmt.Errorf("%s, line %d: %w", file, number, err)
		}
	}
	return lines.Err()
}

func libraryVersion() string {
	build, _ := debug.ReadBuildInfo()
	for _, one := range build.Deps {
		if one.Path == "github.com/tsenart/vegeta/v12" {
			return strings.TrimPrefix(one.Version, "v")
		}
	}
	return "unknown"
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
