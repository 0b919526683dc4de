package main

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// users is a table in the memory of this process. Ids count up from 0.
type users struct {
	lock sync.RWMutex
	next int
	kept map[int]struct{}
}

func routeUsers(routes *http.ServeMux) {
	table := &users{kept: map[int]struct{}{}}
	for _, end := range []string{"", "/{$}"} {
		routes.HandleFunc("POST /user"+end, table.create)
		routes.HandleFunc("GET /user/{id}"+end, table.withID(func(w http.ResponseWriter, _ int) { writeText(w, "{}") }))
		routes.HandleFunc("PUT /user/{id}"+end, table.withID(func(w http.ResponseWriter, _ int) { writeText(w, "") }))
		routes.HandleFunc("DELETE /user/{id}"+end, table.delete)
		routes.HandleFunc("GET /users"+end, table.list)
	}
}

func (u *users) create(w http.ResponseWriter, _ *http.Request) {
	u.lock.Lock()
	id := u.next
	u.next++
	u.kept[id] = struct{}{}
	u.lock.Unlock()
	writeText(w, strconv.Itoa(id))
}

// withID answers for a user that is there.
func (u *users) withID(answer func(http.ResponseWriter, int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		u.lock.RLock()
		_, there := u.kept[id]
		u.lock.RUnlock()
		if err != nil || !there {
			refuse(w, notFound)
			return
		}
		answer(w, id)
	}
}

func (u *users) delete(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	u.lock.Lock()
	_, there := u.kept[id]
	delete(u.kept, id)
	u.lock.Unlock()
	if err != nil || !there {
		refuse(w, notFound)
		return
	}
	writeText(w, "")
}

func (u *users) list(w http.ResponseWriter, _ *http.Request) {
	u.lock.RLock()
	ids := make([]int, 0, len(u.kept))
	for id := range u.kept {
		ids = append(ids, id)
	}
	u.lock.RUnlock()
	slices.Sort(ids)
	texts := make([]string, len(ids))
	for at, id := range ids {
		texts[at] = strconv.Itoa(id)
	}
	writeText(w, strings.Join(texts, ","))
}
