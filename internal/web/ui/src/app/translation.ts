/**
 * Lets a browser translate a page that changes. A translation takes a text node out of the page and puts a `<font>` there,
 * so that nobody sees what the page writes into its text node, and what the page removes stays. Here the text node goes
 * back to its place, empty, before the `<font>`. The `<font>` goes as soon as the page writes to the text node or removes
 * the text node.
 */
export function followTranslations(root: Node): void {
  const translated = new Map<Text, { shown: Element; text: string }>();
  const used = new WeakSet<Element>();

  function replaced(node: Text, { addedNodes, previousSibling, nextSibling }: MutationRecord): void {
    const shown = [...addedNodes, previousSibling, nextSibling].find(
      (other): other is Element =>
        other instanceof Element && other.localName === 'font' && other.isConnected && !used.has(other),
    );
    if (!shown) return;
    // Some translations move the text node into their element.
    if (shown.contains(node)) node.replaceWith(node.cloneNode());
    translated.set(node, { shown, text: node.data });
    used.add(shown);
    node.data = '';
    shown.before(node);
  }

  function written(node: Text, before: string | null): void {
    const was = translated.get(node);
    if (!was) return;
    translated.delete(node);
    was.shown.remove();
    // The page wrote before the node was emptied.
    if (before !== '') node.data = was.text;
  }

  function settle(node: Text, shown: Element, text: string): void {
    if (node.isConnected && shown.isConnected) {
      // The page may have moved the node, or put something behind it.
      if (node.nextSibling !== shown) node.after(shown);
      return;
    }
    translated.delete(node);
    shown.remove();
    // Also when the visitor wants to see the original.
    node.data = text;
  }

  const observer = new MutationObserver((records) => {
    for (const record of records) {
      if (record.target instanceof Text) written(record.target, record.oldValue);
      for (const node of record.removedNodes) if (node instanceof Text) replaced(node, record);
    }
    for (const [node, { shown, text }] of translated) settle(node, shown, text);
    // Nothing else has run since, so these records are of this function's own changes.
    observer.takeRecords();
  });
  observer.observe(root, {
    childList: true,
    subtree: true,
    characterData: true,
    characterDataOldValue: true,
  });
}
