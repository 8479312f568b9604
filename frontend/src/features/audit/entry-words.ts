/** The fields of an entry's details that say most, in that order. */
const telling = ['outcome', 'reason', 'error', 'step', 'risk'] as const;

export type Headline = { name: (typeof telling)[number]; text: string };

/** What an entry's details come to in a line, where they hold anything of that sort. */
export function headlineOf(details: unknown): Headline | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const fields = details as Record<string, unknown>;
  const headlines = telling.flatMap((name) => {
    const text = fields[name];
    return typeof text === 'string' && text !== '' ? [{ name, text }] : [];
  });
  return headlines[0];
}
