import { useEffect, useState } from 'react';
import type { Flow } from '../app/flow';
import { readChoices } from '../media/choices';
import { LocalMedia } from '../media/local';
import type { Wishes } from '../route';

/** Microphone and camera as the link wants them, else as the participant left them. They go off with the screen. */
export function useLocalMedia(flow: Flow, wishes: Wishes): LocalMedia {
  const [media] = useState(() => {
    const { mic, camera, micId, cameraId } = readChoices();
    const { audio, video } = flow.at.devices.restrict({
      audio: wishes.audio ?? mic,
      video: wishes.video ?? camera,
    });
    return new LocalMedia({
      mic: audio,
      camera: video,
      ...(micId && { micId }),
      ...(cameraId && { cameraId }),
    });
  });
  useEffect(() => {
    media.start();
    return () => media.release();
  }, [media]);
  return media;
}
