import { fieldsOf, planOf } from './order-fields';
import type { OrderKind } from './order-kind';

/** Sends dead letters of a group again: those of the ids, or all without an id. */
export function resendDeadLetters(
  clusterName: string,
  consumerGroupName: string,
  messageIds: readonly string[],
): OrderKind {
  const given = { clusterName, consumerGroupName, messageIds: [...messageIds] };
  const fields = fieldsOf('resendDeadLetters', Object.keys(given));
  return {
    word: 'resendDeadLetters',
    target: consumerGroupName,
    fieldsOf: () => fields,
    planOf: (values) => planOf('resendDeadLetters', given, fields, values),
  };
}
