/** The fields of an entry's details that say most, in that order. */
const telling = ['outcome', 'reason', 'error', 'step', 'risk'] as const;

/** What an entry's details come to in a line, where they hold anything of that sort. */
export function headlineOf(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const fields = details as Record<string, unknown>;
  const texts = telling.flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  return texts[0];
}
