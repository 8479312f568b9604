import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { aBroker, aTopic } from '@/testing/builders';
import { aClient } from '@/testing/client-builders';
import { aConsumerGroup } from '@/testing/consumer-group-builders';
import { Raw } from '@/testing/control-plane';
import { aGroup, groupDetail } from '@/testing/group-builders';
import { aBody, aMessageDetail } from '@/testing/message-builders';
import { renderConsole } from '@/testing/render-console';

const broker = { ...aBroker(), protection: null, replica: null };
const body = { MessageBody: () => ({ messageBody: aBody() }) };

const pages = [
  {
    address: '/consumer-groups/billing',
    operation: 'ConsumerGroup',
    known: { consumerGroup: aConsumerGroup() },
    unread: { consumerGroup: null },
    path: ['consumerGroup'],
    shown: 'Members',
    absence: /There is no consumer group billing/,
  },
  {
    address: '/clients/10.0.0.7%40412',
    operation: 'Client',
    known: { client: { client: aClient(), unknown: [] } },
    unread: { client: null },
    path: ['client'],
    shown: 'Connections',
    absence: /No client .* is connected/,
  },
  {
    address: '/messages/7F000001?topic=orders',
    operation: 'Message',
    known: { message: aMessageDetail() },
    unread: { message: null },
    path: ['message'],
    shown: 'Body',
    absence: /There is no message/,
  },
  {
    address: '/topics/orders',
    operation: 'Topic',
    known: { cluster: { id: 'c1', topic: aTopic() } },
    unread: { cluster: { id: 'c1', topic: null } },
    path: ['cluster', 'topic'],
    shown: 'Queues',
    absence: /There is no topic orders/,
  },
  {
    address: '/brokers/broker-a-0',
    operation: 'BrokerPage',
    known: { broker },
    unread: { broker: null },
    path: ['broker'],
    shown: 'Settings',
    absence: /There is no broker/,
  },
  {
    address: '/replica-groups/broker-a',
    operation: 'ReplicaGroup',
    known: groupDetail(aGroup()),
    unread: { cluster: { id: 'c1', replicaGroup: null } },
    path: ['cluster', 'replicaGroup'],
    shown: 'Replicas',
    absence: /There is no replica group/,
  },
];

function refused(data: unknown, path: string[]): Raw {
  const errors = [{ message: 'its master is silent', path, extensions: { code: 'unavailable' } }];
  return new Raw({ data, errors });
}

test.each(pages)('what $operation could not read is not called absent', async (page) => {
  renderConsole(page.address, {
    answers: { ...body, [page.operation]: () => refused(page.unread, page.path) },
  });

  expect(await screen.findByText(/its master is silent/i)).toBeVisible();
  expect(screen.queryByText(page.absence)).toBeNull();
});

test.each(pages)(
  'the answer of $operation stays where it can not be requested again',
  async (page) => {
    let isSilent = false;
    const { queryClient } = renderConsole(page.address, {
      answers: {
        ...body,
        [page.operation]: () => (isSilent ? refused(page.unread, page.path) : page.known),
      },
    });
    expect((await screen.findAllByText(page.shown))[0]).toBeVisible();

    isSilent = true;
    await act(() => queryClient.refetchQueries({ type: 'active' }));

    expect(await screen.findByText(/^The update failed/)).toBeVisible();
    expect(screen.getAllByText(page.shown)[0]).toBeVisible();
    expect(screen.queryByText(page.absence)).toBeNull();
  },
);

test('a form stays open with what was typed while its group cannot be asked', async () => {
  const user = userEvent.setup();
  let isSilent = false;
  const { queryClient } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () =>
        isSilent
          ? refused({ consumerGroup: null }, ['consumerGroup'])
          : { consumerGroup: aConsumerGroup() },
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Change settings…' }));
  await user.type(await screen.findByRole('textbox', { name: /Retry queues/ }), '2');

  isSilent = true;
  await act(() => queryClient.refetchQueries({ type: 'active' }));

  await waitFor(() => expect(screen.getByText(/its master is silent/)).toBeInTheDocument());
  expect(screen.getByRole('textbox', { name: /Retry queues/ })).toHaveValue('2');
});
