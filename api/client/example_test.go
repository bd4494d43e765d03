// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"convene.dev/convene/api/client"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	meet := client.Client{BaseURL: "https://meet.example.com", Secret: os.Getenv("API_KEY_SECRET")}
	on := true
	link, err := meet.Join(ctx, client.JoinRequest{
		Room: "board", Name: "Ada", Audio: &on, Video: &on, Duration: "01:00:00",
		Token: &client.TokenRequest{Username: "ada", Password: os.Getenv("PASSWORD"), Presenter: true, Expire: "1h"},
	})
	if err != nil {
		fmt.Println("no link:", err)
		return
	}
	fmt.Println("send Ada to", link)
}
