/** Everything that a page can choose about its widget. */
export interface AllOptions {
  /** Whether the widget is drawn at once, and not at join(). */
  autoJoin: boolean;
  theme: string;
  widgetState: string;
  widgetType: string;
  supportWidget: {
    position: string;
    /** Not shown: they are pictures of another site. */
    expertImages: string[];
    checkOnlineStatus: boolean;
    isOnline: boolean;
    buttons: Record<Button, boolean>;
    customMessages: Record<
      'heading' | 'subheading' | 'connectText' | 'onlineText' | 'offlineText' | 'poweredBy',
      string
    >;
  };
}

type Button = 'audio' | 'video' | 'screen' | 'chat' | 'join';
type DeepPartial<T> = T extends object ? { [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;

export type WidgetOptions = DeepPartial<AllOptions>;

/** Pages read these to change some of them. */
export const defaults: AllOptions = {
  autoJoin: true,
  theme: 'dark',
  widgetState: 'normal',
  widgetType: 'support',
  supportWidget: {
    position: 'bottom-right',
    expertImages: [],
    checkOnlineStatus: false,
    isOnline: true,
    buttons: { audio: true, video: true, screen: true, chat: true, join: true },
    customMessages: {
      heading: 'Need help?',
      subheading: 'Talk to us right here.',
      connectText: '',
      onlineText: 'We are online',
      offlineText: 'We are offline',
      poweredBy: '',
    },
  },
};

/** The defaults, with what a page gives in their place. */
export function withDefaults(given: WidgetOptions): AllOptions {
  return merge(structuredClone(defaults), given) as AllOptions;
}

function merge(absent: unknown, given: unknown): unknown {
  if (given === undefined || given === null) return absent;
  if (!isObject(absent) || !isObject(given)) return given;
  const merged: Record<string, unknown> = { ...absent };
  for (const [key, value] of Object.entries(given)) merged[key] = merge(absent[key], value);
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The options in the attributes of an element. */
export function readOptions(data: DOMStringMap): WidgetOptions {
  const { heading, subheading, connectText, onlineText, offlineText, poweredBy } = data;
  return {
    theme: data.theme,
    widgetState: data.widgetState,
    widgetType: data.widgetType,
    supportWidget: {
      position: data.position,
      checkOnlineStatus: data.checkOnline === 'true',
      buttons: readButtons(data.buttons),
      customMessages: { heading, subheading, connectText, onlineText, offlineText, poweredBy },
    },
  };
}

/** A list such as "audio,chat": these buttons and no others. */
function readButtons(list: string | undefined): Partial<Record<Button, boolean>> | undefined {
  if (!list) return undefined;
  const named = list.split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.keys(defaults.supportWidget.buttons).map((key) => [key, named.includes(key)]),
  );
}

/** A text without markup: pages written for other services put entities and tags into it. */
export function textOf(markup: string): string {
  if (!/[<&]/.test(markup)) return markup;
  return new DOMParser().parseFromString(markup, 'text/html').body.textContent;
}

/** The ways to call that a widget offers. */
export function buttons({ supportWidget }: AllOptions) {
  const wanted: Partial<Record<string, boolean>> = supportWidget.buttons;
  const none = { audio: false, video: false, screen: false, chat: false };
  return [
    { key: 'audio', label: 'Audio call', wish: { ...none, audio: true } },
    { key: 'video', label: 'Video call', wish: { ...none, audio: true, video: true } },
    { key: 'screen', label: 'Share screen', wish: { ...none, screen: true } },
    { key: 'chat', label: 'Chat', wish: { ...none, chat: true } },
    { key: 'join', label: 'Join', wish: none },
  ].filter(({ key }) => wanted[key] !== false);
}

export function colours(theme: string): { background: string; color: string } {
  return theme === 'light'
    ? { background: '#fff', color: '#1a1a1a' }
    : { background: '#1f2430', color: '#f5f5f5' };
}
