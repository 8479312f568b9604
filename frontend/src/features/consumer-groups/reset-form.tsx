import { SegmentedControl, Select } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { OffsetPosition } from '@/gql/operations';
import classes from './reset-form.module.css';

type End = Extract<OffsetPosition, 'EARLIEST' | 'LATEST'>;

type ResetFormProps = {
  topics: string[];
  isBusy: boolean;
  onPlan: (topicName: string, position: End) => void;
};

/** Says where the group shall go on in a topic; the plan shows each queue before anything moves. */
export function ResetForm({ topics, isBusy, onPlan }: ResetFormProps) {
  const { t } = useTranslation();
  const [topic, setTopic] = useState<string | null>(topics[0] ?? null);
  const [position, setPosition] = useState<End>('EARLIEST');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (topic !== null) onPlan(topic, position);
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <Select
        label={t('resetGroup.topic')}
        data={topics}
        value={topic}
        onChange={setTopic}
        allowDeselect={false}
      />
      <SegmentedControl<End>
        aria-label={t('resetGroup.position')}
        value={position}
        onChange={setPosition}
        data={[
          { value: 'EARLIEST', label: t('resetGroup.earliest') },
          { value: 'LATEST', label: t('resetGroup.latest') },
        ]}
      />
      <WriteButton type="submit" loading={isBusy} disabled={topic === null}>
        {t('resetGroup.plan')}
      </WriteButton>
    </form>
  );
}
