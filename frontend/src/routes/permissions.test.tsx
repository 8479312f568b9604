import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aConsumerGroup } from '@/testing/consumer-group-builders';
import { graphqlError } from '@/testing/control-plane';
import { anOperation, aPlan, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const why = 'You may not do this: the role viewer may only read; it takes the role operator';

const pages: [string, (string | RegExp)[]][] = [
  ['/topics', ['Create a topic…', /Consumer group/]],
  ['/topics?order=create', ['Plan it']],
  ['/topics/orders', [/Change/, /Reset/, /Delete/, /Protect/]],
  ['/consumer-groups/billing', ['Reset offsets…', /Delete/, /Protect/, /Stop|Allow|consum/]],
  ['/brokers/broker-a-0', [/Drain/, /Cordon/, /Forget/, /Protect/]],
  ['/replica-groups/broker-a', [/Elect/, /Forget/]],
  ['/locks', [/^Release the lock/, /^Release all locks/]],
  [
    '/share-queues?ofGroup=billing&ofTopic=orders&ofBroker=broker-a&ofQueue=3',
    [/^Release messages of gone/, /^Reset to an offset/],
  ],
  ['/timers', [/^Recall a message/]],
  ['/containers', [/^Add a broker/, /^Remove broker-a-2/]],
  ['/transactions', [/^Commit the transaction/, /^Roll back the transaction/]],
  ['/capacity', [/report/i]],
  [`/operations/${operationId}`, [/Run|Carry/, /Discard|Cancel/]],
];
const answers = {
  ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
  Operation: () => ({ operation: anOperation({ actions: ['CONFIRM', 'CANCEL'] }) }),
};

test.each(pages)(
  'a viewer sees what there is on %s, disabled with the reason',
  async (at, names) => {
    // Case B13.
    renderConsole(at, { role: 'viewer', answers });

    for (const name of names) {
      const [button] = await screen.findAllByRole('button', { name });
      await waitFor(() => expect(button, String(name)).toBeDisabled());
      expect(button).toHaveAccessibleDescription(why);
      expect(button).toHaveAttribute('title', why);
    }
    expect(screen.getByText('read only')).toBeVisible();
  },
);

test('an operator is offered actions without a loss, and the reason why the others are missing', async () => {
  // Case B13.
  const plan = aPlan({ risk: 'LOSS', riskLabel: 'may lose data' });
  renderConsole(`/operations/${operationId}`, {
    role: 'operator',
    answers: {
      Operation: () => ({ operation: anOperation({ plan, actions: ['CONFIRM', 'CANCEL'] }) }),
    },
  });

  const run = within(await screen.findByRole('region', { name: /Confirm/ })).getByRole('button');

  expect(run).toBeDisabled();
  expect(run).toHaveAccessibleDescription(
    'You may not do this: only an admin confirms what may lose data (R3)',
  );
  expect(screen.queryByText('read only')).toBeNull();
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('what is not allowed is not offered to be tried again', async () => {
  // Case B13.
  renderConsole('/locks', {
    answers: { Locks: () => graphqlError('forbidden', 'the role viewer may only read') },
  });

  const notice = within(await screen.findByRole('alert'));

  expect(notice.getByText('forbidden')).toBeVisible();
  expect(notice.queryByRole('button')).toBeNull();
});
