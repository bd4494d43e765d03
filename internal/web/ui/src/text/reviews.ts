import type { TextKey } from './index';

/** What is known of a translation. Translators and a test read this; the page does not load it. */
interface Review {
  /** The native speaker who has read the whole file. Absent while it is as a machine translated it. */
  readBy?: string;
  /** The texts that a native speaker reads first: a word may be the wrong one, or address people in the wrong way. */
  doubtful: readonly TextKey[];
}

/** The role has no word that every country shares, and the sentences with it follow the word. */
const role: readonly TextKey[] = ['room.presenter', 'notice.promoted', 'people.promote', 'moderate.title'];

/** The names of people whose gender the page does not know stand in these. */
const gender: readonly TextKey[] = [
  'notice.joined',
  'notice.left',
  'notice.recipientLeft',
  'notice.handRaised',
  'hidden.role',
];

export const reviews: Record<string, Review> = {
  ar: { doubtful: [...role, ...gender, 'hidden.count', 'failure.NoWebRTC.text'] },
  de: { doubtful: [...role, 'hidden.role', 'notice.youAreMuted', 'announce.titleTo', 'pictures.title'] },
  es: { doubtful: [...role, 'hidden.role', 'countdown.left', 'rules.lockedWord', 'controls.react'] },
  fr: { doubtful: [...role, 'hidden.role', 'prejoin.title', 'prejoin.joining', 'notice.dismiss'] },
  it: { doubtful: [...role, ...gender, 'notice.joinedMany', 'failure.Removed.title'] },
  ja: {
    doubtful: [
      ...role,
      'controls.endForAll',
      'end.title',
      'room.watching',
      'people.remove',
      'reaction.like',
      'reaction.dislike',
    ],
  },
  pl: {
    doubtful: [
      ...role,
      ...gender,
      'notice.joinedMany',
      'notice.message',
      'notice.privateMessage',
      'view.pin',
      'people.removeTitle',
      'waiting.refuseTitle',
    ],
  },
  pt: { doubtful: [...role, 'hidden.role', 'countdown.left', 'failure.Removed.title'] },
  tr: {
    doubtful: [
      ...role,
      'room.screenOf',
      'view.pin',
      'prejoin.token',
      'rules.everyone',
      'people.handPlace',
      'failure.NoWebRTC.text',
    ],
  },
  uk: {
    doubtful: [
      ...role,
      ...gender,
      'view.speaker',
      'room.screenOf',
      'people.removeTitle',
      'waiting.refuseName',
      'waiting.refuseTitle',
      'failure.NoWebRTC.text',
    ],
  },
  'zh-Hans': {
    doubtful: [
      ...role,
      'announce.titleTo',
      'admission.Ask',
      'chat.refused',
      'controls.react',
      'reaction.dislike',
    ],
  },
};
