import { Button, NumberInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './explain-form.module.css';
import type { QueueChoice } from './lock-queries';

type ExplainFormProps = { chosen: QueueChoice | undefined; onAsk: (queue: QueueChoice) => void };

/** Asks why a group does not read a topic, or one queue of it. */
export function ExplainForm({ chosen, onAsk }: ExplainFormProps) {
  const { t } = useTranslation();
  const [isTried, setIsTried] = useState(false);
  const [group, setGroup] = useState(chosen?.consumerGroupName ?? '');
  const [topic, setTopic] = useState(chosen?.topicName ?? '');
  const [broker, setBroker] = useState(chosen?.brokerGroupName ?? '');
  const [queueId, setQueueId] = useState<number | ''>(chosen?.queueId ?? '');
  const needed = (text: string) => (isTried && text.trim() === '' ? t('why.needed') : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (group.trim() === '' || topic.trim() === '') return;
    onAsk({
      consumerGroupName: group.trim(),
      topicName: topic.trim(),
      brokerGroupName: broker.trim() || undefined,
      queueId: queueId === '' ? undefined : queueId,
    });
  };
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <TextInput
        label={t('locks.group')}
        value={group}
        onChange={(event) => setGroup(event.currentTarget.value)}
        error={needed(group)}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
      />
      <TextInput
        label={t('locks.topic')}
        value={topic}
        onChange={(event) => setTopic(event.currentTarget.value)}
        error={needed(topic)}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
      />
      <TextInput
        label={t('why.broker')}
        placeholder={t('why.every')}
        value={broker}
        onChange={(event) => setBroker(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <NumberInput
        label={t('locks.queue')}
        placeholder={t('why.every')}
        value={queueId}
        onChange={(id) => setQueueId(typeof id === 'number' ? id : '')}
        min={0}
        allowDecimal={false}
        hideControls
      />
      <Button type="submit">{t('why.ask')}</Button>
    </form>
  );
}
