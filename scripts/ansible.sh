# shellcheck shell=bash
# Source this from the checkout's root. It puts Ansible on the PATH, from a virtual environment of its
# own, since Ansible is no dependency of the box.
ansible=.make/ansible
if [ ! -e $ansible.done ]; then
  echo "── Ansible, in an environment of its own"
  rm -rf $ansible
  "${PYTHON:-python3}" -m venv $ansible
  $ansible/bin/pip install --quiet --disable-pip-version-check 'ansible-core~=2.19.0' 'ansible-lint~=26.10'
  touch $ansible.done
fi
export PATH=$PWD/$ansible/bin:$PATH LC_ALL=C.UTF-8
