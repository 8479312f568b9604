import type { Operation } from './operation';

type Ordered = Pick<Operation, 'kind' | 'parameters'>;

/** A text as one word for a shell, whatever the text holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The order as a command that plans it again, shows the plan and asks for a confirmation. */
export function commandOf({ kind, parameters }: Ordered): string {
  return `regent operation plan ${kind} ${quoted(JSON.stringify(parameters))}`;
}

/** The order as a request to the REST door; the token stays a variable of the user's shell. */
export function requestOf({ kind, parameters }: Ordered, origin: string): string {
  const body = quoted(JSON.stringify({ kind, parameters }));
  return [
    `curl -X POST ${quoted(`${origin}/api/v1/operations`)}`,
    `-H "Authorization: Bearer $REGENT_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${body}`,
  ].join(' ');
}
