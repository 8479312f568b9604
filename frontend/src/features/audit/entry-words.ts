/** The fields of an entry's details that say most, the most important first. */
const headlineNames = ['outcome', 'reason', 'error', 'step', 'risk'] as const;

export type Headline = { name: (typeof headlineNames)[number]; text: string };

/** The most important field of an entry's details; undefined where they have no such field. */
export function headlineOf(details: unknown): Headline | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const fields = details as Record<string, unknown>;
  const headlines = headlineNames.flatMap((name) => {
    const text = fields[name];
    return typeof text === 'string' && text !== '' ? [{ name, text }] : [];
  });
  return headlines[0];
}
