import { Checkbox, NumberInput, Select } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { LostGroup } from './adoption';
import classes from './order-form.module.css';

type Chosen = {
  brokerIds: string[];
  masterId: string | null;
  leastEpoch: number | null;
  acceptsLoss: boolean;
};

type AdoptionFormProps = { lost: LostGroup; isBusy: boolean; onPlan: (chosen: Chosen) => void };

/** Says which brokers to take in, and what stands for the facts that nobody told. */
export function AdoptionForm({ lost, isBusy, onPlan }: AdoptionFormProps) {
  const { t } = useTranslation();
  const ids = lost.candidates.map(({ brokerId }) => brokerId);
  const [chosen, setChosen] = useState<Chosen>({
    brokerIds: ids,
    masterId: null,
    leastEpoch: null,
    acceptsLoss: false,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPlan(chosen);
  };
  return (
    <form className={classes.bar} onSubmit={submit}>
      <Checkbox.Group
        label={t('adopt.brokers')}
        value={chosen.brokerIds}
        onChange={(brokerIds) => setChosen({ ...chosen, brokerIds })}
      >
        <div className={classes.choices}>
          {ids.map((id) => (
            <Checkbox key={id} value={id} label={t('designation.replica', { id })} />
          ))}
        </div>
      </Checkbox.Group>
      <Select
        label={t('adopt.master')}
        placeholder={t('adopt.byFacts')}
        data={ids}
        value={chosen.masterId}
        onChange={(masterId) => setChosen({ ...chosen, masterId })}
        clearable
      />
      <NumberInput
        label={t('adopt.leastEpoch')}
        placeholder={t('adopt.asTold')}
        value={chosen.leastEpoch ?? ''}
        onChange={(epoch) =>
          setChosen({ ...chosen, leastEpoch: typeof epoch === 'number' ? epoch : null })
        }
        min={0}
        max={2 ** 31 - 1}
        allowDecimal={false}
        hideControls
      />
      <Checkbox
        label={t('adopt.acceptsLoss')}
        checked={chosen.acceptsLoss}
        onChange={(event) => setChosen({ ...chosen, acceptsLoss: event.currentTarget.checked })}
      />
      <WriteButton type="submit" disabled={chosen.brokerIds.length === 0} loading={isBusy}>
        {t('adopt.plan')}
      </WriteButton>
    </form>
  );
}
