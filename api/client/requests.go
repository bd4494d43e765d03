// SPDX-License-Identifier: Apache-2.0

package client

// TokenRequest asks for a token.
type TokenRequest struct {
	// Username of the user whom the token is for, and that user's Password.
	Username string `json:"username"`
	Password string `json:"password,omitempty"`
	// Presenter: the user is the room's presenter.
	Presenter bool `json:"presenter"`
	// Expire is the token's lifetime, a number and a unit, for example 1h. Empty leaves it to the service.
	Expire string `json:"expire,omitempty"`
}

// JoinRequest asks for a URL into a room. What is not set is left to the service.
type JoinRequest struct {
	// Room to join, and Name to show there. Both are needed.
	Room string `json:"room"`
	Name string `json:"name"`
	// RoomPassword (Variant A); empty means none.
	RoomPassword string `json:"roomPassword,omitempty"`
	// Avatar is the URL of an image; empty means none.
	Avatar string `json:"avatar,omitempty"`
	// Audio, Video and Screen: join with microphone, camera and screen sharing on.
	Audio  *bool `json:"audio,omitempty"`
	Video  *bool `json:"video,omitempty"`
	Screen *bool `json:"screen,omitempty"`
	// Chat: the user has the chat.
	Chat *bool `json:"chat,omitempty"`
	// Hide: the others do not see the user.
	Hide *bool `json:"hide,omitempty"`
	// Notify: the others are told when the user joins.
	Notify *bool `json:"notify,omitempty"`
	// Duration of the meeting: HH:MM:SS or unlimited.
	Duration string `json:"duration,omitempty"`
	// Token is needed where the host is protected, and for presenters.
	Token *TokenRequest `json:"token,omitempty"`
}
