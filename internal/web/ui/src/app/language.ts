import { keepChoices, readChoices } from '../media/choices';
import { showLanguage } from '../text';

/** The languages that a visitor wants, most wanted first: of the address, chosen in this browser, of the browser. */
export function wishedLanguages(address: URL): string[] {
  const asked = address.searchParams.get('lang');
  const { language } = readChoices();
  return [asked, language, ...navigator.languages].filter((tag) => typeof tag === 'string');
}

/** Shows the page in another language from now on. False when that language could not be loaded. */
export async function chooseLanguage(tag: string): Promise<boolean> {
  if (!(await showLanguage(tag))) return false;
  keepChoices({ language: tag });
  const address = new URL(location.href);
  // An address that asks for a language would win after a reload.
  if (address.searchParams.has('lang')) {
    address.searchParams.set('lang', tag);
    history.replaceState(history.state, '', address);
  }
  return true;
}
