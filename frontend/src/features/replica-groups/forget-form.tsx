import { Checkbox, SegmentedControl } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import classes from './order-form.module.css';
import type { ReplicaGroup } from './replica-group';

type Chosen = { brokerIds: string[]; includesLiving: boolean };
type ForgetFormProps = {
  group: ReplicaGroup;
  isBusy: boolean;
  onPlan: (chosen: Chosen) => void;
};
type Scope = 'some' | 'group';

/** Says who is to be forgotten: some that will not come back, or the group as a whole. */
export function ForgetForm({ group, isBusy, onPlan }: ForgetFormProps) {
  const { t } = useTranslation();
  const [scope, setScope] = useState<Scope>('some');
  const [brokerIds, setBrokerIds] = useState<string[]>([]);
  const [includesLiving, setIncludesLiving] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // No id at all means the whole group, so what was ticked does not count there.
    onPlan(
      scope === 'some' ? { brokerIds, includesLiving: false } : { brokerIds: [], includesLiving },
    );
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <SegmentedControl<Scope>
        aria-label={t('forget.scope')}
        value={scope}
        onChange={setScope}
        data={[
          { value: 'some', label: t('forget.some') },
          { value: 'group', label: t('forget.group') },
        ]}
      />
      {scope === 'some' ? (
        <Checkbox.Group label={t('forget.who')} value={brokerIds} onChange={setBrokerIds}>
          <div className={classes.column}>
            {group.replicas.map(({ brokerId, address, isAlive }) => (
              <Checkbox
                key={brokerId}
                value={brokerId}
                label={t(isAlive ? 'forget.living' : 'forget.dead', { id: brokerId, address })}
              />
            ))}
          </div>
        </Checkbox.Group>
      ) : (
        <Checkbox
          label={t('forget.includesLiving')}
          checked={includesLiving}
          onChange={(event) => setIncludesLiving(event.currentTarget.checked)}
        />
      )}
      <WriteButton
        type="submit"
        loading={isBusy}
        disabled={scope === 'some' && brokerIds.length === 0}
      >
        {t('forget.plan')}
      </WriteButton>
    </form>
  );
}
