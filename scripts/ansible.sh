# shellcheck shell=bash
# To be sourced from the clone's root: Ansible on the PATH, from an environment of its own, for it is
# no part of the box.
ansible=.make/ansible
if [ ! -e $ansible.done ]; then
  echo "── Ansible, in an environment of its own"
  rm -rf $ansible
  "${PYTHON:-python3}" -m venv $ansible
  $ansible/bin/pip install --quiet --disable-pip-version-check 'ansible-core~=2.19.0' 'ansible-lint~=26.10'
  touch $ansible.done
fi
export PATH=$PWD/$ansible/bin:$PATH LC_ALL=C.UTF-8
