#!/usr/bin/env php
<?php
// The conferencing API with PHP's own streams: PHP 8, no extension but json (and openssl for https). Prints the JSON of
// each answer, and ends with 1 when it has an error.
//
//   export BASE_URL=https://meet.example.com API_KEY_SECRET=…
//   php convene.php stats | meetings | meeting | docs
//   php convene.php token USERNAME PASSWORD [PRESENTER]
//   php convene.php join ROOM NAME [USERNAME PASSWORD]
//   php convene.php end ROOM [REDIRECT]        (Variant A)
//   php convene.php show ROOM | participants ROOM        (these and the rest: with the extension control)
//   php convene.php change ROOM PATCH        (a JSON merge patch, for example '{"locked": true}')
//   php convene.php participant ROOM IDENTITY PATCH        (for example '{"muted": true}')
//   php convene.php remove ROOM IDENTITY [BAN]
//   php convene.php announce ROOM TEXT [IDENTITY]

declare(strict_types=1);

final class ConferenceError extends RuntimeException
{
}

function call(string $method, string $path, ?array $body = null): string
{
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ['authorization: ' . getenv('API_KEY_SECRET'), 'Content-Type: application/json'],
        'content' => $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR),
        'timeout' => 30,
        // The body of a refusal says why.
        'ignore_errors' => true,
    ]]);
    $raw = file_get_contents(getenv('BASE_URL') . '/api/v1/' . $path, false, $context);
    if ($raw === false) {
        throw new ConferenceError('no answer from ' . getenv('BASE_URL'));
    }
    $answer = json_decode($raw, true);
    if (is_array($answer) && isset($answer['error'])) {
        throw new ConferenceError((string) $answer['error']);
    }
    return $raw;
}

function meetingAt(string $room): string
{
    return 'meeting/' . rawurlencode($room);
}

function participantAt(string $room, string $identity): string
{
    return meetingAt($room) . '/participants/' . rawurlencode($identity);
}

// A list that is empty stays a list, and an object an object.
function patch(string $path, string $json): string
{
    return call('PATCH', $path, (array) json_decode($json, false, 64, JSON_THROW_ON_ERROR));
}

// One page after the other.
function participants(string $room): string
{
    $everyone = [];
    $after = '';
    do {
        $page = json_decode(call('GET', meetingAt($room) . '/participants?after=' . rawurlencode($after)), true);
        $everyone = array_merge($everyone, $page['participants']);
        $after = $page['next'] ?? '';
    } while ($after !== '');
    return json_encode(['participants' => $everyone], JSON_THROW_ON_ERROR);
}

$commands = [
    'stats' => fn () => call('GET', 'stats'),
    'meetings' => fn () => call('GET', 'meetings'),
    'meeting' => fn () => call('POST', 'meeting'),
    'docs' => fn () => call('GET', 'docs'),
    'token' => fn (string $username, string $password, string $presenter = 'false') => call('POST', 'token', [
        'username' => $username, 'password' => $password, 'presenter' => $presenter === 'true', 'expire' => '1h',
    ]),
    'join' => fn (string $room, string $name, ?string $username = null, ?string $password = null) => call('POST', 'join', array_filter([
        'room' => $room, 'name' => $name, 'roomPassword' => false, 'avatar' => false, 'audio' => true, 'video' => true,
        'screen' => false, 'chat' => true, 'hide' => false, 'notify' => true, 'duration' => 'unlimited',
        // Where the host is protected, and for presenters.
        'token' => $username === null ? null : ['username' => $username, 'password' => $password, 'presenter' => true, 'expire' => '1h'],
    ], fn ($value) => $value !== null)),
    'end' => fn (string $room, string $redirect = '') => call('DELETE', meetingAt($room), ['redirect' => $redirect]),
    'show' => fn (string $room) => call('GET', meetingAt($room)),
    'change' => fn (string $room, string $patch) => patch(meetingAt($room), $patch),
    'participants' => fn (string $room) => participants($room),
    'participant' => fn (string $room, string $identity, string $patch) => patch(participantAt($room, $identity), $patch),
    'remove' => fn (string $room, string $identity, string $ban = 'false') =>
        call('DELETE', participantAt($room, $identity), ['ban' => $ban === 'true']),
    'announce' => fn (string $room, string $text, ?string $to = null) =>
        call('POST', meetingAt($room) . '/announcements', ['text' => $text, 'to' => $to]),
];

$command = $argv[1] ?? '';
if (!isset($commands[$command]) || !getenv('BASE_URL') || !getenv('API_KEY_SECRET')) {
    fwrite(STDERR, 'set BASE_URL and API_KEY_SECRET, and name one of: ' . implode(' ', array_keys($commands)) . "\n");
    exit(2);
}
try {
    echo $commands[$command](...array_slice($argv, 2)), "\n";
} catch (ConferenceError | JsonException $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
