// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refuse answers with a status, as the API server does, and does nothing.
func Refuse(status int, reason metav1.StatusReason, header http.Header) Fault {
	return Say(metav1.Status{Status: metav1.StatusFailure, Reason: reason, Code: int32(status), Message: "a fault that a test has placed"}, header)
}

// Say answers with what the API server says of a failure, and does nothing.
func Say(status metav1.Status, header http.Header) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for key, values := range header {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Code))
		status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		_ = json.NewEncoder(w).Encode(status)
	}
}

// Reset breaks the connection and does nothing.
func Reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// Hang does nothing until the client gives up.
func Hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // only then does a server look whether its client is still there
	<-r.Context().Done()
}

// Do does what is asked, also if the client goes meanwhile, and keeps the answer back.
func Do(r *http.Request, pass http.Handler) {
	pass.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
}

// LoseAnswer does what is asked, calls then, and breaks the connection instead of saying so.
func LoseAnswer(then func()) Fault {
	return func(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
		Do(r, pass)
		then()
		panic(http.ErrAbortHandler)
	}
}

// LoseAnswerSilently does what is asked and never answers.
func LoseAnswerSilently(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
	Do(r, pass)
	<-r.Context().Done()
}

// HoldBack passes the request on and keeps back what is answered until the channel is closed. Of a watch that are its
// frames: the client sees a connection that is well, and nothing new.
func HoldBack(until <-chan struct{}) Fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&holder{ResponseWriter: w, until: until, gone: r.Context().Done()}, r)
	}
}

type holder struct {
	http.ResponseWriter
	until, gone <-chan struct{}
}

// Write waits.
func (h *holder) Write(b []byte) (int, error) {
	select {
	case <-h.until:
	case <-h.gone:
	}
	return h.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (h *holder) Unwrap() http.ResponseWriter { return h.ResponseWriter }
