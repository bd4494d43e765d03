/** For tests: a room that tells what the test has it tell. */
export function fakeRoom() {
  const listeners = new Map<unknown, ((...news: unknown[]) => void)[]>();
  const room = {
    isRecording: false,
    remoteParticipants: new Map<string, unknown>(),
    on(event: unknown, listener: (...news: never[]) => void) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener as (...news: unknown[]) => void]);
      return room;
    },
    once: (event: unknown, listener: () => void) => room.on(event, listener),
    emit(event: unknown, ...news: unknown[]) {
      for (const listener of listeners.get(event) ?? []) listener(...news);
    },
  };
  return room;
}
