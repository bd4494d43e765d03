#!/usr/bin/env node
// The conferencing API with fetch: Node.js 18 or newer, nothing to install. Prints the JSON of each answer, and ends
// with 1 when it has an error.
//
//   export BASE_URL=https://meet.example.com API_KEY_SECRET=…
//   node convene.mjs stats | meetings | meeting | docs
//   node convene.mjs token USERNAME PASSWORD [PRESENTER]
//   node convene.mjs join ROOM NAME [USERNAME PASSWORD]
//   node convene.mjs end ROOM [REDIRECT]        (Variant A)
//   node convene.mjs show ROOM | participants ROOM        (these and the rest: with the extension control)
//   node convene.mjs change ROOM PATCH        (a JSON merge patch, for example '{"locked": true}')
//   node convene.mjs participant ROOM IDENTITY PATCH        (for example '{"muted": true}')
//   node convene.mjs remove ROOM IDENTITY [BAN]
//   node convene.mjs announce ROOM TEXT [IDENTITY]

const { BASE_URL, API_KEY_SECRET } = process.env;

async function call(method, path, body) {
  const response = await fetch(`${BASE_URL}/api/v1/${path}`, {
    method,
    headers: { authorization: API_KEY_SECRET, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('json')) {
    return text;
  }
  const answer = JSON.parse(text);
  if (answer.error) {
    throw new Error(`${response.status}: ${answer.error}`);
  }
  return answer;
}

const meetingAt = (room) => `meeting/${encodeURIComponent(room)}`;
const participantAt = (room, identity) => `${meetingAt(room)}/participants/${encodeURIComponent(identity)}`;

const commands = {
  stats: () => call('GET', 'stats'),
  meetings: () => call('GET', 'meetings'),
  meeting: () => call('POST', 'meeting'),
  docs: () => call('GET', 'docs'),
  token: (username, password, presenter = 'false') =>
    call('POST', 'token', { username, password, presenter: presenter === 'true', expire: '1h' }),
  join: (room, name, username, password) =>
    call('POST', 'join', {
      room,
      name,
      roomPassword: false,
      avatar: false,
      audio: true,
      video: true,
      screen: false,
      chat: true,
      hide: false,
      notify: true,
      duration: 'unlimited',
      // Where the host is protected, and for presenters.
      token: username && { username, password, presenter: true, expire: '1h' },
    }),
  end: (room, redirect = '') => call('DELETE', meetingAt(room), { redirect }),
  show: (room) => call('GET', meetingAt(room)),
  change: (room, patch) => call('PATCH', meetingAt(room), JSON.parse(patch)),
  participants: async (room) => {
    const participants = [];
    let next = '';
    do {
      const page = await call('GET', `${meetingAt(room)}/participants?after=${encodeURIComponent(next)}`);
      participants.push(...page.participants);
      next = page.next;
    } while (next);
    return { participants };
  },
  participant: (room, identity, patch) => call('PATCH', participantAt(room, identity), JSON.parse(patch)),
  remove: (room, identity, ban = 'false') => call('DELETE', participantAt(room, identity), { ban: ban === 'true' }),
  announce: (room, text, to) => call('POST', `${meetingAt(room)}/announcements`, { text, to }),
};

const [command, ...args] = process.argv.slice(2);
if (!commands[command] || !BASE_URL || !API_KEY_SECRET) {
  console.error(`set BASE_URL and API_KEY_SECRET, and name one of: ${Object.keys(commands).join(' ')}`);
  process.exit(2);
}
try {
  const answer = await commands[command](...args);
  console.log(typeof answer === 'string' ? answer : JSON.stringify(answer));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
