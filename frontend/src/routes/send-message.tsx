import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sendOne } from '@/features/messages/message-queries';
import { SendRefusal } from '@/features/messages/send-refusal';
import { SentFacts } from '@/features/messages/sent-facts';
import { sendMessage } from '@/features/orders/message-orders';
import { OrderForm } from '@/features/orders/order-form';

type SendMessageProps = {
  clusterName: string;
  topicName?: string | undefined;
  groups: readonly string[] | null;
};

/** Asks for a message and sends it once; what was refused stays filled in. */
export function SendMessage({ clusterName, topicName, groups }: SendMessageProps) {
  const { t } = useTranslation();
  const { data, error, isPending, mutate, reset, variables } = useMutation(sendOne);
  if (data) {
    return (
      <>
        <SentFacts sent={data.data.sendMessage} />
        <Button variant="default" onClick={reset} data-autofocus>
          {t('send.another')}
        </Button>
      </>
    );
  }
  return (
    <>
      {error && variables ? <SendRefusal error={error} topicName={variables.topicName} /> : null}
      <OrderForm
        kind={sendMessage(clusterName, topicName, groups)}
        isBusy={isPending}
        refusal={error}
        onPlan={(message) => mutate(message)}
      />
    </>
  );
}
