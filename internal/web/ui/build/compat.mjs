import { createRequire } from 'node:module';
import ts from 'typescript';

const { api, javascript } = createRequire(import.meta.url)('@mdn/browser-compat-data');

/** The browsers that docs/support.md promises. */
const promised = { chrome: '109', edge: '109', firefox: '115', safari: '16.4', safari_ios: '16.4' };

/** The promised browsers that lack a feature. None for what MDN does not know. */
function lackingOf(feature) {
  const { support } = feature?.__compat ?? {};
  if (!support) return [];
  const lack = ([browser, version]) =>
    ![support[browser] ?? []]
      .flat()
      .some(
        ({ version_added: added, version_removed: removed, flags, prefix, alternative_name: other }) =>
          isAtMost(added, version) && !isAtMost(removed, version) && !flags && !prefix && !other,
      );
  return Object.entries(promised)
    .filter(lack)
    .map((browser) => browser.join(' '));
}

/** MDN writes 12.1, ≤12.1, preview, or false for a feature that a browser does not have. */
function isAtMost(one, other) {
  if (typeof one !== 'string' || !/\d/.test(one)) return false;
  const [a, b] = [one.replace('≤', ''), other].map((version) => version.split('.').map(Number));
  return a[0] === b[0] ? (a[1] ?? 0) <= (b[1] ?? 0) : a[0] < b[0];
}

/** What MDN says of something that TypeScript's own libraries declare. */
function featureOf(declaration) {
  const name = declaration.name?.getText();
  const owner = declaration.parent;
  if (ts.isFunctionDeclaration(declaration)) return api.Window?.[name] ?? api[name];
  if (ts.isVariableDeclaration(declaration)) return api[name] ?? javascript.builtins[name];
  if (ts.isInterfaceDeclaration(owner)) {
    const of = owner.name.text;
    const constructor = /^(\w+)Constructor$/.exec(of)?.[1];
    if (constructor) return javascript.builtins[constructor]?.[name];
    return javascript.builtins[of.replace(/^Readonly(?=Array|Map|Set)/, '')]?.[name] ?? api[of]?.[name];
  }
  // declare var URL: { canParse(url: string): boolean }
  if (!ts.isTypeLiteralNode(owner) || !ts.isVariableDeclaration(owner.parent)) return undefined;
  const of = api[owner.parent.name.getText()];
  return of?.[`${name}_static`] ?? of?.[name];
}

/**
 * Refuses calls that a browser of docs/support.md does not have: the types know the newest browsers only. A call is fine in
 * a file that asks for it with `in`, and where it is reached by `?.`.
 */
export const compat = {
  meta: { type: 'problem', schema: [] },
  create({ sourceCode, report }) {
    const { program, esTreeNodeToTSNodeMap } = sourceCode.parserServices;
    const checker = program.getTypeChecker();
    const asked = new Set();
    const calls = [];
    const check = (name) => {
      const symbol = checker.getSymbolAtLocation(esTreeNodeToTSNodeMap.get(name));
      for (const declaration of symbol?.declarations ?? []) {
        if (!program.isSourceFileDefaultLibrary(declaration.getSourceFile())) continue;
        const lacking = lackingOf(featureOf(declaration));
        if (lacking.length > 0)
          return report({ node: name, message: `${lacking.join(', ')}: no ${name.name}` });
      }
    };
    const note = ({ callee }) => {
      const name = callee.type === 'MemberExpression' ? callee.property : callee;
      if (name.type === 'Identifier' && !callee.optional)
        calls.push({ name, text: sourceCode.getText(callee) });
    };
    return {
      CallExpression: note,
      NewExpression: note,
      'BinaryExpression[operator=in] > Literal.left': ({ value }) => asked.add(value),
      'Program:exit': () => {
        for (const { name, text } of calls)
          if (!text.split(/\W+/).some((part) => asked.has(part))) check(name);
      },
    };
  },
};
