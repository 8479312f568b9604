import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aBroker, aTopic } from '@/testing/builders';
import { aConsumerGroup } from '@/testing/consumer-group-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const protection = {
  protectedBy: 'anna',
  protectedAt: '2026-11-22T10:00:00Z',
  reason: 'production',
};
const planned = () => ({ operation: anOperation() });
const broker = { ...aBroker(), protection, replica: null };

const pages = [
  ['/topics/orders', 'Topic', { cluster: { id: 'c1', topic: aTopic({ protection }) } }],
  ['/consumer-groups/billing', 'ConsumerGroup', { consumerGroup: aConsumerGroup({ protection }) }],
  ['/brokers/broker-a-0', 'BrokerPage', { broker }],
] as const;
const meant = [
  { resourceKind: 'TOPIC', resourceName: 'orders' },
  { resourceKind: 'CONSUMER_GROUP', resourceName: 'billing' },
  { resourceKind: 'BROKER', resourceName: 'broker-a/127.0.0.1:10911' },
];

test.each(pages.map((page, index) => [...page, meant[index]] as const))(
  '%s says who protects it, and plans from the keyboard to lift that',
  async (path, name, answer, what) => {
    const user = userEvent.setup();
    const { address, calls } = renderConsole(path, {
      answers: { PlanOperation: planned, [name]: () => answer },
    });
    expect(await screen.findByText('protected')).toBeVisible();
    expect(screen.getByText(/^by anna since .*: production$/)).toBeVisible();
    expect(await violations(screen.getByRole('main'))).toEqual([]);

    screen.getByRole('button', { name: 'Lift protection…' }).focus();
    await user.keyboard('{Enter}');

    await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      changeProtection: { clusterName: 'regent', ...what, isProtected: false },
    });
  },
);

test('an unprotected resource says so, and plans to protect it', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/topics/orders', { answers: { PlanOperation: planned } });
  expect(await screen.findByText('not protected')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Protect…' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      changeProtection: {
        clusterName: 'regent',
        ...meant[0],
        isProtected: true,
      },
    }),
  );
});
