import type { SendMessageInput } from '@/gql/operations';
import { plainChoices } from './described-field';
import { describedForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** Sends one message at once. Without a topic the form asks for one, without groups for their name. */
export function sendMessage(
  clusterName: string,
  topicName: string | undefined,
  groups: readonly string[] | null,
): OrderKind<SendMessageInput> {
  const kind = describedForm('sendMessage', {
    target: topicName ?? clusterName,
    given: { clusterName, ...(topicName === undefined ? {} : { topicName }) },
    leftOut: ['bodyEncoding'],
    known: {
      body: { as: 'lines' },
      properties: { as: 'pairs' },
      brokerGroupName: groups === null ? {} : { choices: plainChoices(groups) },
    },
  });
  // Its fields and their types are those of the order, which both are made from.
  return { ...kind, planOf: (values) => kind.planOf(values) as SendMessageInput };
}
