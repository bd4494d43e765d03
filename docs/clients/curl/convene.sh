#!/usr/bin/env bash
# The conferencing API with curl. Prints the JSON of each answer, and ends with 1 when it has an error.
#
#   export BASE_URL=https://meet.example.com API_KEY_SECRET=…
#   ./convene.sh stats | meetings | meeting | docs
#   ./convene.sh token USERNAME PASSWORD [PRESENTER]
#   ./convene.sh join ROOM NAME [USERNAME PASSWORD]
#   ./convene.sh end ROOM [REDIRECT]        (Variant A)
#   ./convene.sh show ROOM | participants ROOM [AFTER]        (these and the rest: with the extension control)
#   ./convene.sh change ROOM PATCH        (a JSON merge patch, for example '{"locked": true}')
#   ./convene.sh participant ROOM IDENTITY PATCH        (for example '{"muted": true}')
#   ./convene.sh remove ROOM IDENTITY [BAN]
#   ./convene.sh announce ROOM TEXT [IDENTITY]
set -euo pipefail
: "${BASE_URL:?the address of the service}" "${API_KEY_SECRET:?the secret of its API}"

# The secret comes from a file descriptor: arguments can be read by everybody on the machine.
call() { # METHOD PATH [JSON]
	curl --silent --show-error --fail-with-body --max-time 30 --request "$1" "$BASE_URL/api/v1/$2" \
		--header 'Content-Type: application/json' --header @<(printf 'authorization: %s' "$API_KEY_SECRET") \
		${3:+--data "$3"}
}

# text writes a JSON string.
text() {
	local s=${1//\\/\\\\}
	printf '"%s"' "${s//\"/\\\"}"
}

# path writes one segment of a path.
path() {
	local LC_ALL=C i c
	for ((i = 0; i < ${#1}; i++)); do
		c=${1:i:1}
		case $c in [a-zA-Z0-9._~-]) printf '%s' "$c" ;; *) printf '%%%02X' "'$c" ;; esac
	done
}

case ${1:-} in
stats | meetings | docs) call GET "$1" ;;
meeting) call POST meeting ;;
token)
	call POST token "{\"username\":$(text "$2"),\"password\":$(text "$3"),\"presenter\":${4:-false},\"expire\":\"1h\"}"
	;;
join)
	# Where the host is protected, and for presenters.
	token=${4:+,\"token\":{\"username\":$(text "$4"),\"password\":$(text "${5:-}"),\"presenter\":true,\"expire\":\"1h\"\}}
	call POST join "{\"room\":$(text "$2"),\"name\":$(text "$3"),\"roomPassword\":false,\"avatar\":false,\"audio\":\"true\",\"video\":\"true\",\"screen\":\"false\",\"chat\":\"true\",\"hide\":\"false\",\"notify\":\"true\",\"duration\":\"unlimited\"${token:-}}"
	;;
end) call DELETE "meeting/$(path "$2")" "{\"redirect\":$(text "${3:-}")}" ;;
show) call GET "meeting/$(path "$2")" ;;
change) call PATCH "meeting/$(path "$2")" "$3" ;;
# AFTER is the property next of the page before.
participants) call GET "meeting/$(path "$2")/participants?after=$(path "${3:-}")" ;;
participant) call PATCH "meeting/$(path "$2")/participants/$(path "$3")" "$4" ;;
remove) call DELETE "meeting/$(path "$2")/participants/$(path "$3")" "{\"ban\":${4:-false}}" ;;
announce)
	call POST "meeting/$(path "$2")/announcements" "{\"text\":$(text "$3")${4:+,\"to\":$(text "$4")}}"
	;;
*)
	sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
