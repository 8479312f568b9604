import axe from 'axe-core';

/**
 * Asks axe-core for what keeps people out of a page. Colours are not computed here; the browser
 * tests look at contrast.
 */
export async function violations(): Promise<{ id: string; where: string[] }[]> {
  const found = await axe.run(document.body, {
    rules: { 'color-contrast': { enabled: false } },
    resultTypes: ['violations'],
  });
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({ id, where: nodes.map((node) => node.html) }));
}
