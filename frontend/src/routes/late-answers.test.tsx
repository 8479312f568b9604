import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { aClient, clientPage } from '@/testing/client-builders';
import { aConsumerGroup } from '@/testing/consumer-group-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

/** A filter is applied when this time has passed since the last key. */
const settleMs = 250;

afterEach(() => {
  vi.restoreAllMocks();
});

/** An answer that comes when the test says so. */
function held<T>() {
  let give: (value: T) => void = () => undefined;
  const answer = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { answer, give: (value: T) => act(async () => give(value)) };
}

test('a plan that comes late does not replace the page that the user opened since', async () => {
  const user = userEvent.setup();
  const plan = held<unknown>();
  const { address, queryClient } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
      PlanOperation: () => plan.answer,
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Stop consuming…' }));
  await user.click(screen.getByRole('link', { name: 'Topics' }));
  await screen.findByRole('heading', { name: 'Topics', level: 1 });

  await plan.give({ operation: anOperation() });

  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(JSON.stringify(queryClient.getQueryCache().getAll())).toContain(operationId);
  expect(address()).toBe('/topics');
});

test('a plan made again that comes late does not replace the page that the user opened since', async () => {
  const user = userEvent.setup();
  const plan = held<unknown>();
  const next = '00000000-0000-4000-8000-000000000001';
  const { address, queryClient } = renderConsole(`/operations/${operationId}`, {
    answers: {
      Operation: () => ({ operation: anOperation({ actions: ['REPLAN'] }) }),
      ReplanOperation: () => plan.answer,
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Plan again' }));
  await user.click(screen.getByRole('link', { name: 'Topics' }));
  await screen.findByRole('heading', { name: 'Topics', level: 1 });

  await plan.give({ operation: anOperation({ id: next }) });

  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(JSON.stringify(queryClient.getQueryCache().getAll())).toContain(next);
  expect(address()).toBe('/topics');
});

test('a filter that settles late does not replace the page that the user is opening', async () => {
  const user = userEvent.setup();
  const loading = held<void>();
  const { address, router } = renderConsole('/clients', {
    answers: {
      Clients: () => clientPage([aClient({ clientId: 'sender' })]),
      Client: () => ({ client: { client: aClient({ clientId: 'sender' }), unknown: [] } }),
    },
  });
  Object.assign(router.routesById['/console/clients/$clientId'].options, {
    loader: () => loading.answer,
  });
  const link = await screen.findByRole('link', { name: 'sender' });
  await user.type(screen.getByRole('textbox', { name: 'Find by id' }), 'sen');

  await user.click(link);
  await new Promise((settled) => setTimeout(settled, 400));
  await loading.give(undefined);

  expect(await screen.findByRole('heading', { name: 'sender' })).toBeVisible();
  expect(address()).toBe('/clients/sender');
});

test('a filter is asked at once by Enter', async () => {
  const user = userEvent.setup();
  const later = vi.fn();
  const own = window.setTimeout;
  // The time after which a filter settles by itself never passes, however long a busy machine takes.
  vi.spyOn(window, 'setTimeout').mockImplementation(((act: () => void, ms?: number) =>
    ms === settleMs ? later(act) : own(act, ms)) as typeof window.setTimeout);
  const { address } = renderConsole('/clients', { answers: { Clients: () => clientPage([]) } });
  const field = await screen.findByRole('textbox', { name: 'Find by id' });

  await user.type(field, 'sen');
  expect(address()).toBe('/clients');
  await user.keyboard('{Enter}');

  await waitFor(() => expect(address()).toBe('/clients?search=sen'));
  expect(later).toHaveBeenCalled();
});
