// SPDX-License-Identifier: Apache-2.0

// The conferencing API with the package convene.dev/convene/api/client. Prints the result of each call as JSON, and
// ends with 1 when there was an error.
//
//	export BASE_URL=https://meet.example.com API_KEY_SECRET=…
//	go run ./docs/clients/go stats | meetings | meeting | docs
//	go run ./docs/clients/go token USERNAME PASSWORD [PRESENTER]
//	go run ./docs/clients/go join ROOM NAME [USERNAME PASSWORD]
//	go run ./docs/clients/go end ROOM [REDIRECT]        (Variant A)
//	go run ./docs/clients/go show ROOM | participants ROOM        (these and the rest: with the extension control)
//	go run ./docs/clients/go change ROOM PATCH        (a JSON merge patch, for example '{"locked": true}')
//	go run ./docs/clients/go participant ROOM IDENTITY PATCH        (for example '{"muted": true}')
//	go run ./docs/clients/go remove ROOM IDENTITY [BAN]
//	go run ./docs/clients/go announce ROOM TEXT [IDENTITY]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"convene.dev/convene/api/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := &client.Client{BaseURL: os.Getenv("BASE_URL"), Secret: os.Getenv("API_KEY_SECRET")}
	result, err := call(ctx, c, append(os.Args[1:], "", "", "", "", ""))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		cancel()
		os.Exit(1)
	}
}

func call(ctx context.Context, c *client.Client, args []string) (any, error) {
	on := true
	switch args[0] {
	case "stats":
		return c.Stats(ctx)
	case "meetings":
		meetings, err := c.Meetings(ctx)
		return map[string]any{"meetings": meetings}, err
	case "meeting":
		link, err := c.CreateMeeting(ctx)
		return map[string]string{"meeting": link}, err
	case "docs":
		return c.Docs(ctx)
	case "token":
		token, err := c.Token(ctx, client.TokenRequest{Username: args[1], Password: args[2], Presenter: args[3] == "true", Expire: "1h"})
		return map[string]string{"token": token}, err
	case "join":
		request := client.JoinRequest{Room: args[1], Name: args[2], Audio: &on, Video: &on, Notify: &on, Duration: "unlimited"}
		if args[3] != "" {
			request.Token = &client.TokenRequest{Username: args[3], Password: args[4], Presenter: true, Expire: "1h"}
		}
		link, err := c.Join(ctx, request)
		return map[string]string{"join": link}, err
	case "end":
		return done, c.EndMeeting(ctx, args[1], args[2])
	}
	return control(ctx, c, args)
}

var done = map[string]bool{"success": true}

// control makes the calls of that extension.
func control(ctx context.Context, c *client.Client, args []string) (any, error) {
	room := args[1]
	switch args[0] {
	case "show":
		return c.Meeting(ctx, room)
	case "change":
		patch, err := readPatch(args[2])
		if err != nil {
			return nil, err
		}
		return c.ChangeMeeting(ctx, room, patch)
	case "participants":
		return everyone(ctx, c, room)
	case "participant":
		patch, err := readPatch(args[3])
		if err != nil {
			return nil, err
		}
		return done, c.ChangeParticipant(ctx, room, args[2], patch)
	case "remove":
		return done, c.RemoveParticipant(ctx, room, args[2], args[3] == "true")
	case "announce":
		return done, c.Announce(ctx, room, args[2], args[3])
	}
	return nil, fmt.Errorf("set BASE_URL and API_KEY_SECRET, and name one of: " +
		"stats meetings meeting docs token join end show change participants participant remove announce")
}

func readPatch(text string) (patch client.Patch, err error) {
	if err = json.Unmarshal([]byte(text), &patch); err != nil {
		err = fmt.Errorf("the patch %q is not a JSON object: %w", text, err)
	}
	return patch, err
}

// everyone asks for one page after the other.
func everyone(ctx context.Context, c *client.Client, room string) (all client.ParticipantPage, err error) {
	all.Participants = []client.Participant{}
	for {
		page, err := c.Participants(ctx, room, 0, all.Next)
		if err != nil {
			return all, err
		}
		all.Participants, all.Next = append(all.Participants, page.Participants...), page.Next
		if all.Next == "" {
			return all, nil
		}
	}
}
