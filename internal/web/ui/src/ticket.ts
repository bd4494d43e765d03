import { attempt, type Tab } from './app/storage';
import { parseObject } from './boot';

/**
 * The token in a text, without what came to it on the way: spaces and line ends inside, and punctuation or markup around it.
 * Undefined where some of it is missing. All tokens of this service are JWTs with HS256, whose signature has 43 characters.
 */
export function wholeToken(text: string): string | undefined {
  return /e[\w-]+\.[\w-]+\.[\w-]{43}/.exec(text.replace(/[\s\p{Default_Ignorable_Code_Point}]/gu, ''))?.[0];
}

/**
 * Tells a join ticket from an API token by its unverified payload. The page trusts neither: the answer only chooses the
 * field of the request, and the server verifies both.
 */
export function isTicket(token: string): boolean {
  return decodePayload(token).typ_use === 'ticket';
}

export function decodePayload(token: string): Record<string, unknown> {
  const payload = token.split('.')[1];
  if (!payload) return {};
  try {
    const binary = atob(payload.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    return parseObject(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

/** A token kept for this tab alone, so that a reload rejoins without it being in the address. */
export interface KeptToken {
  token: string;
  /** The participant left on purpose: a reload must not switch the microphone on again. */
  left?: boolean;
}

/** Keeps tokens by the page's address, so that two links opened in one tab stay apart. */
export class TokenKeeper {
  constructor(
    private readonly storage: () => Tab,
    private readonly address: string,
  ) {}

  read(): KeptToken | undefined {
    const kept = attempt(() => this.storage().getItem(this.key));
    if (!kept) return undefined;
    const { token, left } = parseObject(kept);
    return typeof token === 'string' ? { token, ...(left === true && { left }) } : undefined;
  }

  /** Reports whether the token is kept: the browser may have storage switched off. */
  write(kept: KeptToken): boolean {
    return (
      attempt(() => {
        this.storage().setItem(this.key, JSON.stringify(kept));
        return true;
      }) ?? false
    );
  }

  forget(): void {
    attempt(() => this.storage().removeItem(this.key));
  }

  private get key(): string {
    return `convene.token ${this.address}`;
  }
}
