import type { ReconnectPolicy, RoomOptions } from 'livekit-client';

/**
 * livekit-client tries to resume a broken connection at these moments, in milliseconds. Then the loop of Connection
 * takes over. It can also open the engine's room again, and knows whether the meeting still goes on.
 */
const resumeAfter = [0, 300, 1000, 2000];

const resumeBriefly: ReconnectPolicy = {
  nextRetryDelayInMs: ({ retryCount }) => resumeAfter[retryCount] ?? null,
};

export function roomOptions(speakerId?: string): RoomOptions {
  return {
    // Pictures are as sharp as the screen. By itself livekit-client counts one pixel where a screen has two.
    adaptiveStream: { pixelDensity: 'screen' },
    dynacast: true,
    // The page keeps devices through a lost connection, and stops them itself.
    stopLocalTrackOnUnpublish: false,
    // See whenPageLeaves.
    disconnectOnPageLeave: false,
    reconnectPolicy: resumeBriefly,
    ...(speakerId && { audioOutput: { deviceId: speakerId } }),
  };
}
