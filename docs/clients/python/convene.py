#!/usr/bin/env python3
"""The conferencing API with Python's standard library: Python 3.8 or newer, nothing to install.

Prints the JSON of each answer, and ends with 1 when it has an error.

    export BASE_URL=https://meet.example.com API_KEY_SECRET=…
    python3 convene.py stats | meetings | meeting | docs
    python3 convene.py token USERNAME PASSWORD [PRESENTER]
    python3 convene.py join ROOM NAME [USERNAME PASSWORD]
    python3 convene.py end ROOM [REDIRECT]        (Variant A)
    python3 convene.py show ROOM | participants ROOM        (these and the rest: with the extension control)
    python3 convene.py change ROOM PATCH        (a JSON merge patch, for example '{"locked": true}')
    python3 convene.py participant ROOM IDENTITY PATCH        (for example '{"muted": true}')
    python3 convene.py remove ROOM IDENTITY [BAN]
    python3 convene.py announce ROOM TEXT [IDENTITY]
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


class ConferenceError(Exception):
    """What the service answered in place of a result."""


def call(method, path, body=None):
    request = urllib.request.Request(
        f"{os.environ['BASE_URL']}/api/v1/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": os.environ["API_KEY_SECRET"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, kind, raw = response.status, response.headers.get_content_type(), response.read()
    except urllib.error.HTTPError as refusal:
        status, kind, raw = refusal.code, refusal.headers.get_content_type(), refusal.read()
    if kind != "application/json":
        return raw.decode()
    answer = json.loads(raw)
    if "error" in answer:
        raise ConferenceError(f"{status}: {answer['error']}")
    return answer


def stats():
    return call("GET", "stats")


def meetings():
    return call("GET", "meetings")


def meeting():
    return call("POST", "meeting")


def docs():
    return call("GET", "docs")


def token(username, password, presenter="false"):
    return call("POST", "token", {
        "username": username, "password": password, "presenter": presenter == "true", "expire": "1h",
    })


def join(room, name, username=None, password=None):
    body = {
        "room": room, "name": name, "roomPassword": False, "avatar": False, "audio": True, "video": True,
        "screen": False, "chat": True, "hide": False, "notify": True, "duration": "unlimited",
    }
    if username:  # Where the host is protected, and for presenters.
        body["token"] = {"username": username, "password": password, "presenter": True, "expire": "1h"}
    return call("POST", "join", body)


def end(room, redirect=""):
    return call("DELETE", at(room), {"redirect": redirect})


def show(room):
    return call("GET", at(room))


def change(room, patch):
    return call("PATCH", at(room), json.loads(patch))


def participants(room):
    everyone, after = [], ""
    while True:  # One page after the other.
        page = call("GET", at(room) + "/participants?" + urllib.parse.urlencode({"after": after}))
        everyone += page["participants"]
        after = page.get("next")
        if not after:
            return {"participants": everyone}


def participant(room, identity, patch):
    return call("PATCH", at(room, identity), json.loads(patch))


def remove(room, identity, ban="false"):
    return call("DELETE", at(room, identity), {"ban": ban == "true"})


def announce(room, text, to=None):
    return call("POST", at(room) + "/announcements", {"text": text, "to": to})


def at(room, identity=None):
    path = "meeting/" + urllib.parse.quote(room, safe="")
    return path if identity is None else path + "/participants/" + urllib.parse.quote(identity, safe="")


def main(arguments):
    commands = {f.__name__: f for f in (
        stats, meetings, meeting, docs, token, join, end, show, change, participants, participant, remove, announce,
    )}
    if not arguments or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        answer = commands[arguments[0]](*arguments[1:])
    except (ConferenceError, json.JSONDecodeError, urllib.error.URLError) as error:
        print(error, file=sys.stderr)
        return 1
    print(answer if isinstance(answer, str) else json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
