import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { renderConsole } from '@/testing/render-console';

const sent = {
  state: 'STORED',
  messageId: '7F00000100002A9F0000000000000001',
  uniqueKey: 'A1',
  brokerGroupName: 'broker-a',
  queueId: 2,
  queueOffset: '41',
  bodyBytes: 2,
  bodySha256: 'ab12',
  doubt: null,
};

async function fillIn(user: ReturnType<typeof userEvent.setup>) {
  const dialog = within(await screen.findByRole('dialog', { name: 'Send a message to orders' }));
  await user.type(dialog.getByLabelText('Body'), 'hi');
  await user.type(dialog.getByLabelText('Tag'), 'created');
  await user.click(dialog.getByRole('button', { name: 'Send' }));
  return dialog;
}

test('a message is sent from the page of its topic, and its place is shown with a link', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/topics/orders', {
    answers: { SendMessage: () => ({ sendMessage: sent }) },
  });
  await user.click(await screen.findByRole('button', { name: 'Send a message…' }));
  await screen.findByRole('dialog', { name: 'Send a message to orders' });
  expect(address()).toBe('/topics/orders?order=send');
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);

  const dialog = await fillIn(user);

  const link = await dialog.findByRole('link', { name: sent.messageId });
  expect(link).toHaveAttribute('href', expect.stringContaining(`/messages/${sent.messageId}`));
  expect(dialog.getByText('The message is stored')).toBeVisible();
  expect(dialog.getByText('41')).toBeVisible();
  const asked = calls.filter(({ operation }) => operation === 'SendMessage');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.variables.message).toMatchObject({ topicName: 'orders', body: 'hi' });
});

test('a message that may be stored is not sent again: the way to look for it is shown', async () => {
  const user = userEvent.setup();
  const facts = { reason: 'send_unanswered', topicName: 'orders', uniqueKey: 'A1' };
  const { calls } = renderConsole('/messages?topic=orders&order=send', {
    answers: {
      SendMessage: () => graphqlError('unavailable', 'broker-a has not said', null, facts),
    },
  });

  const dialog = await fillIn(user);

  expect(await dialog.findByText('The message may be stored')).toBeVisible();
  const look = dialog.getByRole('link', { name: 'Look for it' });
  expect(look).toHaveAttribute('href', expect.stringContaining('key=A1'));
  await waitFor(() =>
    expect(calls.filter(({ operation }) => operation === 'SendMessage')).toHaveLength(1),
  );
});

test('a refusal stands beside the field that it names, and what was typed stays', async () => {
  const user = userEvent.setup();
  const message = "the message can't be sent; tag: it holds '|'";
  renderConsole('/topics/orders?order=send', {
    answers: {
      SendMessage: () =>
        graphqlError('invalid', message, null, { reason: 'invalid_message', parameter: 'tag' }),
    },
  });

  const dialog = await fillIn(user);

  expect(await dialog.findByText('The message was not sent')).toBeVisible();
  expect(dialog.getByLabelText('Tag')).toHaveAccessibleDescription(
    expect.stringContaining(message),
  );
  expect(dialog.getByLabelText('Body')).toHaveValue('hi');
});
