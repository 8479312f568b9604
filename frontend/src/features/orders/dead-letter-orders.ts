import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** Sends dead letters of a group again: those of the ids, or all without an id. */
export function resendDeadLetters(
  clusterName: string,
  consumerGroupName: string,
  messageIds: readonly string[],
): OrderKind {
  return orderForm('resendDeadLetters', {
    target: consumerGroupName,
    given: { clusterName, consumerGroupName, messageIds: [...messageIds] },
    known: { destination: { words: (value: string) => `deadLetterDestination.${value}` } },
  });
}
