import { onlineManager } from '@tanstack/react-query';
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Raw } from '@/testing/control-plane';
import { anOperation, aPlan, aRunningOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = `/operations/${operationId}`;
const gate = { needsName: false, needsLossAccepted: false, holdMs: 0 };
const Operation = () => ({ operation: anOperation({ plan: aPlan({ risk: 'SMALL', gate }) }) });

afterEach(() => onlineManager.setOnline(true));

test('an order given while the browser is offline fails at once and is not sent later', async () => {
  const user = userEvent.setup();
  const ConfirmOperation = () => ({ operation: aRunningOperation() });
  const { calls } = renderConsole(path, { answers: { Operation, ConfirmOperation } });
  const confirm = await screen.findByRole('button', { name: 'Carry it out' });
  const fetchOnline = fetch;
  act(() => onlineManager.setOnline(false));
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('network')));

  await user.click(confirm);
  expect(await screen.findByRole('alert')).toHaveTextContent('The control plane is out of reach');
  vi.stubGlobal('fetch', fetchOnline);
  calls.length = 0;
  act(() => onlineManager.setOnline(true));

  await waitFor(() => expect(calls.map(({ operation }) => operation)).toContain('Operation'));
  expect(calls.map(({ operation }) => operation)).not.toContain('ConfirmOperation');
});

test('an order given after the session has ended leads to the sign-in page and back', async () => {
  const user = userEvent.setup();
  const ended = new Raw({ status: 401, code: 'unauthenticated', detail: 'sign in first' }, 401);
  const { address } = renderConsole(path, {
    answers: { Operation, ConfirmOperation: () => ended },
  });

  await user.click(await screen.findByRole('button', { name: 'Carry it out' }));

  await waitFor(() => expect(address()).toBe(`/sign-in?next=${encodeURIComponent(path)}`));
});
