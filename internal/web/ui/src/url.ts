/** Undefined when the text is no URL. URL.canParse is newer than the browsers that the page is built for. */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
