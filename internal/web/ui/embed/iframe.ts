/**
 * The script /js/iframe.js: `new IframeApi(domain, options)` as pages written for other services of this API use it. What they
 * cannot have here is left out: a room's password is asked for by the room, and `hide` needs a join link that the API made.
 */
import { baseOf, ConveneRoom, defineElement, linkTo, type RoomOptions } from './embed';

interface IframeOptions extends RoomOptions {
  width?: string | number;
  height?: string | number;
  parentNode?: Node | null;
}

const base = baseOf((document.currentScript as HTMLScriptElement).src);

/** The address of a service by its domain, which may have a path. The one that served this script may have another scheme. */
export function serviceAt(domain: string, own: URL): URL {
  const text = domain.trim().replace(/\/*$/, '/');
  const url = new URL(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  const sameHost = url.host === own.host || `${url.hostname}:${url.port || '443'}` === own.host;
  return sameHost && own.pathname.startsWith(url.pathname) ? own : url;
}

/** What each place shows. */
const shown = new WeakMap<Node, ConveneRoom>();

class IframeApi extends ConveneRoom {
  constructor(domain: string, options: Partial<IframeOptions> = {}) {
    if (!domain) throw new Error('IframeApi needs the domain of the meeting service.');
    const { width = '100vw', height = '100vh', parentNode, ...wanted } = options;
    const link = linkTo(serviceAt(domain, base), { ...wanted, room: wanted.room || 'default-room' });
    // Pages that draw themselves anew make another room in the same place.
    if (parentNode) {
      shown.get(parentNode)?.remove();
      parentNode.textContent = '';
    }
    super(link, parentNode ?? document.body);
    if (parentNode) shown.set(parentNode, this);
    Object.assign(this.iframe.style, { width: length(width), height: length(height) });
  }
}

function length(value: string | number): string {
  return typeof value === 'number' ? `${value}px` : value;
}

defineElement(base);
Object.assign(window, { IframeApi });
