/** The script /js/embed.js: a module for pages of other sites. */
import { baseOf, defineElement } from './embed';

export * from './embed';

defineElement(baseOf(import.meta.url));
