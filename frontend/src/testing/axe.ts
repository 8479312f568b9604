import axe from 'axe-core';

/**
 * Asks axe-core for what keeps people out of a region. Colours are not computed here, and what is
 * around the pages is the same on each; the browser tests look at both.
 */
export async function violations(region: HTMLElement): Promise<{ id: string; where: string[] }[]> {
  const found = await axe.run(region, {
    rules: { 'color-contrast': { enabled: false } },
    resultTypes: ['violations'],
  });
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({ id, where: nodes.map((node) => node.html) }));
}
