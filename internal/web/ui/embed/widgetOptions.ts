/** What a page can choose about its widget. */
export interface WidgetOptions {
  theme?: string;
  widgetState?: string;
  widgetType?: string;
  supportWidget?: {
    position?: string;
    expertImages?: string[];
    checkOnlineStatus?: boolean;
    isOnline?: boolean;
    buttons?: Partial<Record<'audio' | 'video' | 'screen' | 'chat' | 'join', boolean>>;
    customMessages?: Partial<
      Record<'heading' | 'subheading' | 'connectText' | 'onlineText' | 'offlineText' | 'poweredBy', string>
    >;
  };
}

/** The options in the attributes of an element. */
export function readOptions(data: DOMStringMap): WidgetOptions {
  const text = (value: string | undefined) => value ?? '';
  const says = {
    ...(data.heading !== undefined && { heading: data.heading }),
    ...(data.subheading !== undefined && { subheading: data.subheading }),
    ...(data.connectText !== undefined && { connectText: data.connectText }),
    ...(data.onlineText !== undefined && { onlineText: data.onlineText }),
    ...(data.offlineText !== undefined && { offlineText: data.offlineText }),
    ...(data.poweredBy !== undefined && { poweredBy: data.poweredBy }),
  };
  return {
    theme: text(data.theme),
    widgetState: text(data.widgetState),
    widgetType: text(data.widgetType),
    supportWidget: {
      ...(data.position !== undefined && { position: data.position }),
      checkOnlineStatus: data.checkOnline === 'true',
      customMessages: says,
    },
  };
}

/** A text without markup: pages written for other services put entities and tags into it. */
export function textOf(markup: string | undefined, absent: string): string {
  if (markup === undefined) return absent;
  if (!/[<&]/.test(markup)) return markup;
  return new DOMParser().parseFromString(markup, 'text/html').body.textContent;
}

/** The ways to call that a widget offers. */
export function buttons({ supportWidget }: WidgetOptions) {
  const wanted = supportWidget?.buttons ?? {};
  const none = { audio: false, video: false, screen: false, chat: false };
  return [
    { key: 'audio', label: 'Audio call', wish: { ...none, audio: true } },
    { key: 'video', label: 'Video call', wish: { ...none, audio: true, video: true } },
    { key: 'screen', label: 'Share screen', wish: { ...none, screen: true } },
    { key: 'chat', label: 'Chat', wish: { ...none, chat: true } },
    { key: 'join', label: 'Join', wish: none },
  ].filter(({ key }) => wanted[key as keyof typeof wanted] !== false);
}

export function colours(theme: string | undefined): { background: string; color: string } {
  return theme === 'light'
    ? { background: '#fff', color: '#1a1a1a' }
    : { background: '#1f2430', color: '#f5f5f5' };
}
