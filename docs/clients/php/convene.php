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
    'end' => fn (string $room, string $redirect = '') => call('DELETE', 'meeting/' . rawurlencode($room), ['redirect' => $redirect]),
];

$command = $argv[1] ?? '';
if (!isset($commands[$command]) || !getenv('BASE_URL') || !getenv('API_KEY_SECRET')) {
    fwrite(STDERR, 'set BASE_URL and API_KEY_SECRET, and name one of: ' . implode(' ', array_keys($commands)) . "\n");
    exit(2);
}
try {
    echo $commands[$command](...array_slice($argv, 2)), "\n";
} catch (ConferenceError $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
